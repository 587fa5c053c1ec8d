# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: venv_receive
short_description: Receive a virtual environment on the host it goes to
version_added: "0.1.0"
description:
  - The receiving half of M(inferops.sglang.venv_sync), whose action plugin runs it on the target host.
    There is hardly a reason to call it from a playbook.
  - The live tree at O(path) is in use until the last step, which renames the new one into its place.
author: The inferops.sglang maintainers (@inferops)
options:
  path:
    description: The directory of the virtual environment.
    type: path
    required: true
  step:
    description:
      - V(plan) compares the tree with the reference's and says what has to travel and what speaks against it.
      - V(receive) takes one chunk of contents and proves each by its SHA-256.
      - V(stage) builds the new tree in O(path) + C(.new) and proves it by imports.
      - V(swap) renames it into place.
      - V(probe) proves the live tree by imports.
    type: str
    choices: [plan, receive, stage, swap, probe]
    required: true
  exchange:
    description: A directory for what travels.
    type: path
  manifest:
    description: The reference's manifest; V(plan) without it only returns the identity of the tree.
    type: path
  origin:
    description: What the reference is made of, from M(inferops.sglang.venv_pack).
    type: dict
    default: {}
  exclude:
    description: Shell patterns of names or relative paths that do not belong to the tree.
    type: list
    elements: str
    default: []
  bytecode:
    description: Whether C(__pycache__) belongs to the tree.
    type: bool
    default: true
  slice_seconds:
    description: How long one call of V(plan) may read. In check mode it reads to the end.
    type: int
    default: 10
  contents:
    description: The list of contents that travel.
    type: path
  chunk:
    description: The chunk to take.
    type: path
  offset:
    description: Where the chunk begins in the stream of contents, in bytes.
    type: int
    default: 0
  length:
    description: The length of the chunk in bytes, before compression.
    type: int
    default: 0
  compression:
    description: How the chunk is compressed.
    type: str
    choices: [zstd, gzip, none]
    default: gzip
  imports:
    description: Modules to import with the tree's own interpreter.
    type: list
    elements: str
    default: []
  imports_environment:
    description: Environment variables for these imports.
    type: dict
    default: {}
  keep_previous:
    description: Whether the tree that was live stays as O(path) + C(.prev).
    type: bool
    default: true
extends_documentation_fragment:
  - inferops.sglang.attributes
attributes:
  check_mode:
    support: full
    details: Only V(plan) and V(probe) are run in check mode.
  diff_mode:
    support: full
    details: The lines are in RV(lines) of V(plan).
  idempotent:
    support: full
    details: V(plan) finds nothing to do then.
  platform:
    support: full
    platforms: linux
seealso:
  - module: inferops.sglang.venv_sync
  - module: inferops.sglang.venv_pack
"""

EXAMPLES = r"""
- name: Prove the venv by an import
  inferops.sglang.venv_receive:
    path: /root/venv_sglang211
    step: probe
    imports: [torch]
"""

RETURN = r"""
finished:
  description: Whether the comparison is complete.
  type: bool
  returned: for V(plan)
pending_bytes:
  description: How much is still to be read.
  type: int
  returned: for V(plan)
recovered:
  description: Whether a swap that an earlier run did not finish was undone, so that the previous tree is live again.
  type: bool
  returned: for V(plan)
identity:
  description: The digest that two equal trees share; empty where there is none.
  type: str
  returned: for V(plan), when finished
added:
  description: How many paths are new.
  type: int
  returned: for V(plan), with a manifest
removed:
  description: How many paths go.
  type: int
  returned: for V(plan), with a manifest
modified:
  description: How many paths change.
  type: int
  returned: for V(plan), with a manifest
bytes:
  description: How much has to travel, before compression.
  type: int
  returned: for V(plan), with a manifest
lines:
  description: The difference in at most 41 lines.
  type: list
  elements: str
  returned: for V(plan), with a manifest
hazards:
  description: What speaks against the move, each with C(id), C(stops) and C(message).
  type: list
  elements: dict
  returned: for V(plan), with a manifest
contents:
  description: The list of contents that have to travel, a file in O(exchange).
  type: str
  returned: for V(plan), with a manifest
zstd:
  description: Whether this host has zstd.
  type: bool
  returned: for V(plan), with a manifest
wrong:
  description: Contents that arrived with other bytes than the manifest promised, and that cannot be done without.
  type: list
  elements: str
  returned: for V(receive)
"""

import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._venv_receiver import Receiver, RefusedError


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "step": {"type": "str", "choices": ["plan", "receive", "stage", "swap", "probe"], "required": True},
            "exchange": {"type": "path"},
            "manifest": {"type": "path"},
            "origin": {"type": "dict", "default": {}},
            "exclude": {"type": "list", "elements": "str", "default": []},
            "bytecode": {"type": "bool", "default": True},
            "slice_seconds": {"type": "int", "default": 10},
            "contents": {"type": "path"},
            "chunk": {"type": "path"},
            "offset": {"type": "int", "default": 0},
            "length": {"type": "int", "default": 0},
            "compression": {"type": "str", "choices": ["zstd", "gzip", "none"], "default": "gzip"},
            "imports": {"type": "list", "elements": "str", "default": []},
            "imports_environment": {"type": "dict", "default": {}},
            "keep_previous": {"type": "bool", "default": True},
        },
        required_if=[
            ("step", "plan", ("exchange",)),
            ("step", "receive", ("manifest", "contents", "chunk", "exchange")),
            ("step", "stage", ("manifest",)),
            ("step", "swap", ("manifest",)),
        ],
        supports_check_mode=True,
    )
    receiver = Receiver(module, time.monotonic, time.time_ns)
    steps: dict[str, Any] = {
        "plan": receiver.plan,
        "receive": receiver.receive,
        "stage": receiver.stage,
        "swap": receiver.swap,
        "probe": receiver.probe,
    }
    try:
        answer = steps[module.params["step"]]()
        module.exit_json(changed=module.params["step"] == "swap" or answer.get("recovered", False), **answer)
    except (RefusedError, OSError, ValueError) as error:
        module.fail_json(msg=f"venv {module.params['path']}: {error}")


if __name__ == "__main__":
    main()
