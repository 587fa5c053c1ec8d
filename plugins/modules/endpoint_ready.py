# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: endpoint_ready
short_description: Wait until an SGLang service really generates, or say what died and why
version_added: "0.1.0"
description:
  - Follows the journal of the unit's present invocation and asks the server for a real chat completion, both at once.
  - The service is ready when the listening socket belongs to the unit's own processes, two generations with the same
    prompt gave readable text, and the unit was not restarted meanwhile. C(active), an open port, C(/health) and the line
    "fired up and ready to roll" are no proof and are not taken for one.
  - Ends at once when the unit dies, is stopped or restarted, or when the program prints that it is over while systemd
    still calls it active. Then it reads on for a moment, diagnoses the whole invocation and fails with the exception, the
    rank, the lines that matter, and what to change.
  - A node of a server over several machines whose O(node_rank) is 1 or higher serves no API, and its C(/health) says 200
    whatever its ranks do. There the wait is over when its schedulers are up; node 0 is where generation is judged.
  - Needs permission to read the journal and the unit's processes, so use C(become).
extends_documentation_fragment:
  - inferops.sglang.attributes
  - inferops.sglang.signatures
author:
  - The inferops.sglang maintainers (@inferops)
attributes:
  check_mode:
    support: full
    details:
      - One look and no waiting; the message says what would be waited for, also where the unit does not exist yet.
  diff_mode:
    support: none
    details:
      - It changes nothing but what O(stop_restart_loop) allows, and that has no text to compare.
  idempotent:
    support: full
    details:
      - It never reports a change. Two or more requests are sent to the server on every run.
  platform:
    support: full
    platforms: posix
    details:
      - Linux with systemd and Python 3.8 or newer, standard library only.
options:
  unit:
    description:
      - The systemd unit that runs the server.
    type: str
    required: true
  url:
    description:
      - Where the server listens, as seen from the target itself. Proxies are never used.
    type: str
    default: http://127.0.0.1:30001
  model:
    description:
      - The name under which the server must serve its model (C(served-model-name)). Without it any name is accepted.
    type: str
  api_key:
    description:
      - The server's API key. Sent as a bearer token, never shown.
    type: str
  api_key_file:
    description:
      - A file on the target whose content is the API key. So the key never travels in the task.
    type: path
  validate_certs:
    description:
      - Whether the certificate of an C(https) URL is checked.
    type: bool
    default: true
  prompt:
    description:
      - What is asked, twice.
    type: str
    default: Say OK.
  expect:
    description:
      - A regular expression that the answer must match. Without it any readable text will do.
    type: str
  timeout_seconds:
    description:
      - When to give up. Loading 590 GB of weights and compiling kernels for the first time can take most of an hour.
    type: int
    default: 3600
  stall_seconds:
    description:
      - How long the service may print nothing, read nothing and compile nothing before it counts as stuck.
      - V(0) leaves each phase its own limit, from 10 minutes (loading weights, which shows as reading) to 30 (capturing CUDA
        graphs, where kernels are compiled inside the process without a line).
      - Where C(py-spy) is in the server's venv, the message then says where each rank stands.
    type: int
    default: 0
  request_timeout_seconds:
    description:
      - How long one generation may take. The first one may have to compile kernels.
    type: int
    default: 120
  client_url:
    description:
      - The address that clients will use, for example C(http://10.77.0.21:30001). Once the service is ready, the controller
        asks there for the models and for one generation, and fails with the reason where no client would get through.
      - Done by the action plugin with the Python package C(requests) on the controller; the module alone does not look.
        Proxies of the environment are not used.
      - With O(api_key_file) the controller has no key; there a refusal for want of the key counts as reached.
    type: str
  client_validate_certs:
    description:
      - Whether the certificate of an C(https) O(client_url) is checked, by the controller's own trust store.
    type: bool
    default: true
  node_rank:
    description:
      - The C(--node-rank) of this node, where one server runs over several machines.
    type: int
    default: 0
  nnodes:
    description:
      - The C(--nnodes) of that server; only for the message.
    type: int
    default: 0
  stop_restart_loop:
    description:
      - Stop a unit that has died, so that systemd does not start it again and again; each start would load the whole model.
      - A unit that is stuck or answers wrongly is left running, to be looked at.
    type: bool
    default: false
  slice_seconds:
    description:
      - Return after about this long with RV(finished=false) and RV(resume), so that progress can be shown; C(0) waits until
        the end in one go.
      - The action plugin of the same name sets it and calls again; playbooks do not need it.
    type: int
    default: 0
  resume:
    description:
      - The RV(resume) value of the previous slice.
    type: str
requirements:
  - requests (on the controller, only for O(client_url))
seealso:
  - module: inferops.sglang.unit_failure_info
"""

EXAMPLES = r"""
- name: Wait until the endpoint generates
  inferops.sglang.endpoint_ready:
    unit: sglang.service
    url: http://127.0.0.1:30001
    model: kimi-k2.6
  become: true

- name: Ask something with an answer that can be checked
  inferops.sglang.endpoint_ready:
    unit: sglang.service
    prompt: What is 2+2? Answer with one digit.
    expect: "4"
    api_key_file: /etc/sglang/api-key
  become: true

- name: And see whether clients get through
  inferops.sglang.endpoint_ready:
    unit: sglang.service
    client_url: "http://{{ ansible_host }}:30001"
  become: true
"""

RETURN = r"""
ready:
  description: Whether the service generates.
  returned: always
  type: bool
finished:
  description: False where only a slice of the wait is over.
  returned: always
  type: bool
msg:
  description: One readable paragraph; on failure what died, when, why, and the first thing to change.
  returned: always
  type: str
answer:
  description: The text of the last generation, at most 500 characters.
  returned: when ready
  type: str
listening:
  description: The addresses on which the service listens at its port; C(0.0.0.0) and C(::) are all of them.
  returned: when ready
  type: list
  elements: str
  sample: ["127.0.0.1"]
client:
  description:
    - What the controller found at O(client_url), with C(url), C(reachable), C(kind) (V(reached), V(loopback), V(refused),
      V(timeout), V(unreachable), V(name), V(tls), V(key), V(answer) or V(model)), C(problem) and C(seconds).
  returned: when O(client_url) was looked at
  type: dict
stacks:
  description:
    - Where each rank stands, each with C(rank) (empty for the main process), C(pid) and C(frames), innermost first.
  returned: when it is stuck or too late
  type: list
  elements: dict
  sample: [{rank: TP3, pid: 812, frames: ["_build (build.py:54)", "compile_module_from_src (driver.py:76)"]}]
served_models:
  description: The names under C(/v1/models).
  returned: when ready
  type: list
  elements: str
seconds:
  description: From the unit's start to this result.
  returned: when finished
  type: float
time_to_first_answer:
  description: Seconds that the first good generation took.
  returned: when ready
  type: float
phases:
  description:
    - The phases of the start in order, each with C(name), C(title) and C(seconds).
  returned: when finished
  type: list
  elements: dict
  sample: [{name: weight_load, title: loading weights, seconds: 41.2}]
invocation_id:
  description: The unit's invocation ID.
  returned: when finished
  type: str
early_warnings:
  description: Lines that are harmless by themselves and worth knowing, each with C(line) and C(meaning).
  returned: when finished
  type: list
  elements: dict
restart_loop_stopped:
  description: Whether the dead unit was stopped, see O(stop_restart_loop).
  returned: on failure
  type: bool
diagnosis:
  description: What died and why; the shape is that of RV(inferops.sglang.unit_failure_info#module:diagnosis).
  returned: on failure
  type: dict
readable:
  description:
    - The diagnosis for people, with every remedy and about ten lines of evidence. The action plugin moves it to RV(msg).
  returned: on failure, by the module alone
  type: str
progress:
  description: How far the start has come.
  returned: when not finished
  type: str
  sample: loading weights 26/64 shards  41 s
phase:
  description: The name of the present phase.
  returned: when not finished
  type: str
resume:
  description: Opaque; for the next slice.
  returned: when not finished
  type: str
"""

import json
import re
import time
from functools import partial

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.custom import (
    SIGNATURES_OPTION,
    anywhere,
    user_signatures,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.log import Log
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving import outcome, probe
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.host import Host, Journal
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.readiness import (
    STALLED,
    TIMEOUT,
    WAITING,
    Limits,
    Wait,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.stacks import stacks
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.watch import Question, watch
from ansible_collections.inferops.sglang.plugins.module_utils._target.commands import runner

ARGUMENTS = {
    "unit": {"type": "str", "required": True},
    "url": {"type": "str", "default": "http://127.0.0.1:30001"},
    "model": {"type": "str"},
    "api_key": {"type": "str", "no_log": True},
    "api_key_file": {"type": "path", "no_log": False},
    "validate_certs": {"type": "bool", "default": True},
    "prompt": {"type": "str", "default": "Say OK."},
    "expect": {"type": "str"},
    "timeout_seconds": {"type": "int", "default": 3600},
    "stall_seconds": {"type": "int", "default": 0},
    "request_timeout_seconds": {"type": "int", "default": 120},
    "client_url": {"type": "str"},
    "client_validate_certs": {"type": "bool", "default": True},
    "node_rank": {"type": "int", "default": 0},
    "nnodes": {"type": "int", "default": 0},
    "signatures": SIGNATURES_OPTION,
    "stop_restart_loop": {"type": "bool", "default": False},
    "slice_seconds": {"type": "int", "default": 0},
    "resume": {"type": "str", "no_log": False},
}


def check(module: AnsibleModule) -> tuple:
    """Refuse bad input before anything is asked; returns the user's signatures."""
    for name in ("url", "client_url"):
        problem = probe.check_url(module.params[name], name) if module.params[name] is not None else ""
        if problem:
            module.fail_json(msg=problem, ready=False, finished=True)
    try:
        re.compile(module.params["expect"] or "")
    except re.error as error:
        module.fail_json(
            msg=f"expect is {module.params['expect']!r}, which is no regular expression ({error})",
            ready=False,
            finished=True,
        )
    for name, least in (("timeout_seconds", 1), ("stall_seconds", 0), ("request_timeout_seconds", 1), ("node_rank", 0)):
        if module.params[name] < least:
            wrong = f"{name} is {module.params[name]}; it must be at least {least}"
            module.fail_json(msg=wrong, ready=False, finished=True)
    try:
        return user_signatures(module.params["signatures"])
    except ValueError as error:
        return module.fail_json(msg=str(error), ready=False, finished=True)


def read_key(module: AnsibleModule) -> str:
    """The API key, from the option or from its file; it is kept out of every result."""
    key = module.params["api_key"] or ""
    if module.params["api_key_file"]:
        try:
            with open(module.params["api_key_file"], encoding="utf-8") as handle:
                key = handle.read().strip()
        except (OSError, UnicodeDecodeError) as error:
            module.fail_json(
                msg=f"api_key_file is {module.params['api_key_file']}, which cannot be read: {error}",
                ready=False,
                finished=True,
            )
        module.no_log_values.add(key)
    return key


def fail(module: AnsibleModule, result: dict) -> None:
    """Report the failure; a unit that has died is not left to load the model again and again."""
    died = result.get("diagnosis", {}).get("failed", False)
    if died and module.params["stop_restart_loop"]:
        # Not waited for: a process in its crash diagnostics can take a minute to go.
        module.run_command(["systemctl", "--no-block", "stop", module.params["unit"]])
        result["restart_loop_stopped"] = result["changed"] = True
    module.fail_json(**result)


def main() -> None:
    """Look, wait, and hand back the verdict."""
    module = AnsibleModule(
        argument_spec=ARGUMENTS, supports_check_mode=True, mutually_exclusive=[("api_key", "api_key_file")]
    )
    signatures = check(module)
    params = module.params

    run = runner(module)
    host = Host(run, params["unit"], probe.port_of(params["url"]))
    unit = host.unit()
    if module.check_mode:
        module.exit_json(**outcome.in_check_mode(unit, params["url"]))

    limits = Limits(params["timeout_seconds"], params["stall_seconds"])
    wait = Wait(limits, params["expect"] or "", params["node_rank"], log=Log(signatures))
    if params["resume"]:
        try:
            wait.resume(json.loads(params["resume"]))
        except (ValueError, KeyError, TypeError):
            module.fail_json(
                msg="resume is not a value that this module returned; leave it out", ready=False, finished=True
            )
    else:
        wait.begin(unit, time.time())
    journal = Journal(run, wait.invocation, unit.since, everything=anywhere(signatures))
    if not params["resume"] and not unit.running:
        journal.read_into(partial(wait.see_lines, now=time.time()))
        fail(module, outcome.not_running(unit, wait, signatures))

    endpoint = probe.Endpoint(params["url"], read_key(module), params["validate_certs"])
    question = Question(endpoint, params["prompt"], params["model"] or "", params["request_timeout_seconds"])
    verdict, unit, prober = watch(wait, host, journal, question, params["slice_seconds"])
    if verdict == WAITING:
        module.exit_json(
            changed=False,
            ready=False,
            finished=False,
            msg=wait.progress(time.time()),
            progress=wait.progress(time.time()),
            phase=wait.timeline.phase,
            resume=json.dumps(wait.saved()),
        )
    now = time.time()
    standing = stacks(run, host.processes, unit) if verdict in (STALLED, TIMEOUT) else ([], "")
    result = outcome.ended(
        verdict, unit, wait, prober.models, signatures, now, journal.problem, standing, params["nnodes"]
    )
    if result["ready"]:
        module.exit_json(listening=host.addresses(unit), **result)
    fail(module, result)


if __name__ == "__main__":
    main()
