# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Module: which remedy of a failed start is in effect, or may be."""

from __future__ import annotations

DOCUMENTATION = r"""
module: sglang_remedy_info
short_description: Say which remedy of a failed start is in effect, or may be
version_added: "0.1.0"
author: The inferops.sglang maintainers (@inferops)
description:
  - The judgement behind C(sglang_service_allowed_remedies) of the role P(inferops.sglang.sglang_service#role). It writes nothing; the
    role writes the note, the configuration and the unit.
  - Without O(diagnosis) it reads the note of an earlier run and says whether that remedy still stands. It has had its time when the
    inventory says the same, when it says something else about the same things than it did then, or when the remedy is not allowed any more.
  - With O(diagnosis) it names the first remedy that the operator allows, or fails with the diagnosis and why each remedy is left to people.
    Where a remedy stands already it names no other one, so that a service that keeps dying is not changed again and again.
extends_documentation_fragment:
  - inferops.sglang.attributes.info_module
options:
  note:
    description: The note that a remedy leaves on the host.
    type: path
    required: true
  unit:
    description: The systemd unit, for sentences.
    type: str
    required: true
  allowed:
    description:
      - What the operator allows. A kind (V(server_args), V(environment)) allows remedies that are safe to apply unattended; the id of a
        signature allows every exact remedy of that failure; C(id=value) allows that one.
      - Remedies of other kinds (V(packages), V(host), V(model), V(manual)) are never applied, also where they are listed.
    type: list
    elements: str
    default: []
  signatures:
    description: Ids of the operator's own signatures, which O(allowed) may name beside the ones that the collection knows.
    type: list
    elements: str
    default: []
  arguments:
    description: The server arguments of the inventory, as in M(inferops.sglang.sglang_config).
    type: dict
    default: {}
  environment:
    description: The environment of the inventory.
    type: dict
    default: {}
  reserved:
    description: Arguments and environment variables that a remedy may not set.
    type: list
    elements: str
    default: []
  diagnosis:
    description: The C(diagnosis) of a failed start, as M(inferops.sglang.endpoint_ready) returns it.
    type: dict
  failure_message:
    description: The message of that failure, which stands at the beginning of this module's own.
    type: str
    default: ""
seealso:
  - module: inferops.sglang.endpoint_ready
  - module: inferops.sglang.sglang_config
"""

EXAMPLES = r"""
- name: See whether a remedy of an earlier run still stands
  inferops.sglang.sglang_remedy_info:
    note: /etc/sglang/sglang.remedy.yaml
    unit: sglang.service
    allowed: [server_args]
    arguments: "{{ sglang_service_arguments }}"
  register: remedy
"""

RETURN = r"""
stands:
  description: Whether a remedy of an earlier run is in effect.
  returned: success
  type: bool
over:
  description: Why the remedy of an earlier run has had its time, so that its note must go; empty otherwise.
  returned: success
  type: str
remedy:
  description:
    - The remedy in effect, or the chosen one, with C(signature), C(title), C(kind), C(value), C(unattended), C(arguments),
      C(environment) and C(applied_at); empty where there is none.
  returned: success
  type: dict
arguments:
  description: The server arguments with the remedy.
  returned: success
  type: dict
environment:
  description: The environment with the remedy.
  returned: success
  type: dict
inventory:
  description: The remedy as lines for the inventory.
  returned: success
  type: list
  elements: str
  sample: ["sglang_service_arguments: {mm-attention-backend: triton_attn}"]
note_text:
  description: The note for the host; empty where there is no remedy.
  returned: success
  type: str
died:
  description: The first line of O(failure_message), what died and why.
  returned: with O(diagnosis), on success
  type: str
left:
  description: Why remedies were left to people, one sentence each.
  returned: with O(diagnosis)
  type: list
  elements: str
diagnosis:
  description: The given diagnosis.
  returned: on failure
  type: dict
"""

import os
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import REMEDY_KINDS
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.signatures import BUILTIN
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch import change as changes
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch import choice, note
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.arguments import ArgumentsError

HOST = os.uname().nodename


def remembered(module: AnsibleModule) -> dict[str, Any]:
    """What the note of an earlier run says; {} where there is none."""
    path = module.params["note"]
    try:
        with open(path, encoding="utf-8") as handle:
            return note.parse(handle.read())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        return module.fail_json(
            msg=f"The note {path} of an applied remedy cannot be read: {error}. "
            "Delete it, and the service is deployed as the inventory says."
        )


def result(module: AnsibleModule, remedy: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The inventory's arguments and environment, with the remedy where there is one."""
    arguments, environment = module.params["arguments"], module.params["environment"]
    change = changes.Change(remedy.get("arguments", {}), remedy.get("environment", {}))
    return {
        "changed": False,
        "remedy": remedy,
        "arguments": changes.merged(arguments, change),
        "environment": {**environment, **change.environment},
        "inventory": changes.as_yaml(change),
        "note_text": note.render(module.params["unit"], remedy) if remedy else "",
        **more,
    }


def review(module: AnsibleModule) -> dict[str, Any]:
    """Whether the remedy of an earlier run still stands; each time it does, the run says so."""
    params = module.params
    remedy = remembered(module)
    if not remedy:
        return result(module, {}, stands=False, over="")
    over = note.over(remedy, params["allowed"], params["arguments"], params["environment"])
    named = f"the remedy `{remedy['value']}` that was applied on {remedy['applied_at']} ({remedy['signature']})"
    if over:
        module.warn(
            f"{params['unit']} on {HOST}: {named} is taken back, because {over}. Its note {params['note']} goes."
        )
        return result(module, {}, stands=False, over=over)
    answer = result(module, remedy, stands=True, over="")
    module.warn(
        "\n".join(
            [f"{params['unit']} on {HOST} runs with {named}. Make it permanent in the inventory:", *answer["inventory"]]
        )
    )
    return answer


def choose(module: AnsibleModule) -> dict[str, Any]:
    """The remedy to apply now, loudly; or the failure, with the reason why nothing is applied."""
    params = module.params
    died = params["failure_message"].partition("\n")
    before = remembered(module)
    if before:
        left = [
            f"the remedy `{before['value']}` that was applied on {before['applied_at']} ({before['signature']}) is in effect, and only one "
            f"is applied at a time. Change the inventory, or delete {params['note']} to go back to what the inventory says"
        ]
        remedy = None
    else:
        remedy, left = choice.choose(
            params["diagnosis"], params["allowed"], params["arguments"], params["environment"], params["reserved"]
        )
    if remedy is None:
        lines = [params["failure_message"], *(f"  {sentence}" for sentence in left)]
        return module.fail_json(msg="\n".join(lines), diagnosis=params["diagnosis"], left=left)
    change = changes.Change(remedy["arguments"], remedy["environment"])
    remedy["applied_at"] = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    remedy["before"] = note.digest(params["arguments"], params["environment"], change)
    answer = result(module, remedy, stands=False, over="", died=died[0], left=left)
    module.warn(
        "\n".join(
            [
                f"{HOST}: {died[0]}",
                *left,
                f"{choice.VARIABLE} allows the remedy `{remedy['value']}` ({remedy['kind']}): it is applied now, once, and the service is "
                "deployed again. Make it permanent in the inventory:",
                *answer["inventory"],
            ]
        )
    )
    return answer


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "note": {"type": "path", "required": True},
            "unit": {"type": "str", "required": True},
            "allowed": {"type": "list", "elements": "str", "default": []},
            "signatures": {"type": "list", "elements": "str", "default": []},
            "arguments": {"type": "dict", "default": {}},
            "environment": {"type": "dict", "default": {}},
            "reserved": {"type": "list", "elements": "str", "default": []},
            "diagnosis": {"type": "dict"},
            "failure_message": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    known = [*(signature.id for signature in BUILTIN), *module.params["signatures"]]
    wrong = choice.mistakes(module.params["allowed"], REMEDY_KINDS, known)
    if wrong:
        module.fail_json(msg=" ".join(wrong))
    try:
        answer = choose(module) if module.params["diagnosis"] else review(module)
    except ArgumentsError as error:
        module.fail_json(msg=str(error))
    module.exit_json(**answer)


if __name__ == "__main__":
    main()
