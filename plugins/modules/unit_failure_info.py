# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: unit_failure_info
short_description: Say what died, why, and what to change
version_added: "0.1.0"
description:
  - Diagnoses one invocation of a unit from the journal, or a saved log file of an SGLang server.
  - Names the first specific cause in time over all ranks, never one of its consequences such as "Received sigquit"; knows
    a stop from a crash, and SGLang's own SIGKILL from the out-of-memory killer's.
  - Without a signature that knows the failure it still names the right exception, its rank and the lines that matter.
extends_documentation_fragment:
  - inferops.sglang.attributes.info_module
  - inferops.sglang.signatures
attributes:
  platform:
    support: full
    platforms: posix
    details: O(unit) needs Linux with systemd and permission to read the journal; O(path) works anywhere with Python 3.8 or newer.
author:
  - The inferops.sglang maintainers (@inferops)
options:
  unit:
    description:
      - The unit to diagnose. Exactly one of O(unit) and O(path) is needed.
    type: str
  invocation:
    description:
      - Which invocation of O(unit); an invocation ID, V(latest), or V(-1) for the one before it, V(-2) and so on.
    type: str
    default: latest
  path:
    description:
      - A saved log on the host where the module runs. Understood are C(journalctl -o json), C(-o export) and the short
        formats, the program's own output, and what docker and kubectl put before its lines.
    type: path
seealso:
  - module: inferops.sglang.endpoint_ready
"""

EXAMPLES = r"""
- name: Diagnose the last run of the service
  inferops.sglang.unit_failure_info:
    unit: sglang.service
  register: failure
  become: true

- name: Show it
  ansible.builtin.debug:
    msg: "{{ failure.readable }}"

- name: Diagnose a log that somebody sent
  inferops.sglang.unit_failure_info:
    path: crash.log
  delegate_to: localhost
"""

RETURN = r"""
msg:
  description: One readable paragraph; what died, when, why, and the first thing to change, or that nothing failed.
  returned: always
  type: str
readable:
  description: The same with every remedy and about ten lines of evidence.
  returned: always
  type: str
invocation_id:
  description: The invocation that was diagnosed; empty where the unit does not exist or has not run.
  returned: with O(unit)
  type: str
phases:
  description: The phases of the start in order, each with C(name), C(title) and C(seconds).
  returned: always
  type: list
  elements: dict
diagnosis:
  description: What died and why.
  returned: always
  type: dict
  contains:
    failed:
      description: Whether this is a failure. A stop is none, whatever it looks like.
      type: bool
    signature:
      description: The id of the signature that knows the failure, or V(unknown).
      type: str
    title:
      description: The failure in a few words.
      type: str
    cause:
      description: Why it happens.
      type: str
    remedies:
      description: What to change, best first; each with C(kind), C(value), C(unattended) and C(note).
      type: list
      elements: dict
    exception:
      description: C(type) and C(message) of the exception.
      type: dict
    cause_line:
      description: The line of the log that states the cause, word for word.
      type: str
    phase:
      description: How far it had come.
      type: str
    phase_title:
      description: The same in words.
      type: str
    ranks:
      description: The ranks concerned, the first to fail in front.
      type: list
      elements: str
    pids:
      description: The processes concerned, the first to fail in front.
      type: list
      elements: int
    frames:
      description: The innermost frames of the traceback, as C(file:line in function).
      type: list
      elements: str
    evidence:
      description: At most 40 lines of the log with their times and writers.
      type: list
      elements: str
    exit:
      description: How the process ended, C(code), C(signal), C(result) and C(meaning).
      type: dict
    early_warnings:
      description: Lines that are harmless by themselves and worth knowing, each with C(line) and C(meaning).
      type: list
      elements: dict
    secondary:
      description: Consequences that were set aside.
      type: list
      elements: str
    complete:
      description: False where the log is cut or the journal dropped lines.
      type: bool
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.custom import (
    SIGNATURES_OPTION,
    anywhere,
    user_signatures,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.log import Log, read_stream
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving import outcome
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.host import Host, Journal, invocations
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.unit import UnitState
from ansible_collections.inferops.sglang.plugins.module_utils._target.commands import runner

ARGUMENTS = {
    "unit": {"type": "str"},
    "invocation": {"type": "str", "default": "latest"},
    "path": {"type": "path"},
    "signatures": SIGNATURES_OPTION,
}


def choose(module: AnsibleModule, run: Any, unit: UnitState) -> str:
    """The invocation ID that the option means; empty where the latest is asked for and there is none."""
    wanted = module.params["invocation"]
    known = invocations(run, unit.name)
    if unit.invocation and unit.invocation not in known:
        known.append(unit.invocation)
    if wanted == "latest" and not known:
        return ""
    if wanted == "latest" or (wanted.startswith("-") and wanted[1:].isdigit()):
        back = 0 if wanted == "latest" else int(wanted[1:])
        if back < len(known):
            return known[-1 - back]
        module.fail_json(
            msg=f"invocation is {wanted}, but the journal knows {len(known)} invocations of {unit.name}; "
            "check the unit's name, or whether the journal was rotated"
        )
    if len(wanted) != 32 or wanted.strip("0123456789abcdef"):
        module.fail_json(msg=f"invocation is {wanted!r}; give an invocation ID (32 hex digits), latest, or -1, -2, ...")
    return wanted


def main() -> None:
    """Read, judge, report."""
    module = AnsibleModule(
        argument_spec=ARGUMENTS,
        supports_check_mode=True,
        required_one_of=[("unit", "path")],
        mutually_exclusive=[("unit", "path")],
    )
    try:
        signatures = user_signatures(module.params["signatures"])
    except ValueError as error:
        module.fail_json(msg=str(error))

    log = Log(signatures)
    everything = anywhere(signatures)
    if module.params["path"]:
        try:
            with open(module.params["path"], "rb") as handle:
                log.extend(read_stream(handle, everything))
        except OSError as error:
            module.fail_json(msg=f"path is {module.params['path']}, which cannot be read: {error}")
        module.exit_json(**outcome.diagnosed(module.params["path"], log.entries, None, signatures))

    run = runner(module)
    unit = Host(run, module.params["unit"], 0).unit()
    invocation = choose(module, run, unit)
    if not invocation:
        state = "has not run" if unit.exists else "does not exist on this host, and has not run"
        text = f"{unit.name} {state} as far back as the journal goes; there is nothing to diagnose."
        result = outcome.diagnosed(unit.name, [], None, ())
        result.update(invocation_id="", msg=text, readable=text)
        module.exit_json(**result)
    current = unit if invocation == unit.invocation else None
    journal = Journal(run, invocation, everything=everything)
    journal.read_into(log.extend)
    result = outcome.diagnosed(unit.name, log.entries, current, signatures)
    if journal.problem:
        module.fail_json(msg=f"The journal of {unit.name} cannot be read: {journal.problem}")
    module.exit_json(invocation_id=invocation, **result)


if __name__ == "__main__":
    main()
