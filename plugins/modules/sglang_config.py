# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Module: write SGLang's config file, after its own parser has agreed."""

from __future__ import annotations

DOCUMENTATION = r"""
module: sglang_config
short_description: Write SGLang's config file, after its own parser has agreed
version_added: "0.1.0"
author: The inferops.sglang maintainers (@inferops)
description:
  - Turns a dict of server arguments into the YAML file that C(python -m sglang.launch_server --config FILE) reads.
  - Before anything is written, the parser of the SGLang that is INSTALLED in the venv judges every argument. Each mistake is reported
    in a sentence of its own, with the nearest existing option where the name is unknown.
  - Arguments that SGLang refuses in a config file (its C(--x)/C(--no-x) pairs and custom actions) are returned in RV(command_line).
  - Refuses a port on which another program listens, and names that program. SGLang itself would find out only after it has loaded
    the whole model.
  - Also says whether the running unit is older than what it runs from, so that an interrupted deployment is finished by the next one.
extends_documentation_fragment:
  - inferops.sglang.attributes
attributes:
  check_mode:
    support: full
    details:
      - Where the venv is not there yet, the arguments cannot be judged; the module then warns and reports what it would write.
      - A taken port is a warning, because an earlier task of a real run may free it.
  diff_mode:
    support: full
    details:
      - The values of O(secret_arguments) are never shown.
  idempotent:
    support: full
  platform:
    support: full
    platforms: linux
options:
  path:
    description: The config file. SGLang accepts only names that end in C(.yaml) or C(.yml).
    type: path
    required: true
  python:
    description: The Python interpreter of the venv that holds SGLang.
    type: path
    required: true
  arguments:
    description:
      - Server arguments by name, as in C(--help) without the leading dashes; underscores may stand for hyphens.
      - V(true) sets a switch, V(false) leaves it out (and writes C(--no-x) for a C(--x)/C(--no-x) pair). A list gives several words.
      - A mapping is passed as JSON. V(null) leaves the argument out.
    type: dict
    required: true
  secret_arguments:
    description: Like O(arguments), for those whose values must not be seen, such as C(api-key).
    type: dict
    default: {}
  owner:
    description: Owner of the file.
    type: str
    default: root
  group:
    description: Group of the file; the service's own group, so that it alone can read the secrets.
    type: str
    default: root
  unit:
    description: The systemd unit that runs from this file, for RV(restart_reasons); it may hold its own port.
    type: str
  check_port:
    description: Whether the port of the arguments must be free, or held by O(unit) itself. Needs O(unit).
    type: bool
    default: true
  runs_from:
    description: More files and directories that the unit runs from. A restart is due when one of them is newer than the running process.
    type: list
    elements: path
    default: []
"""

EXAMPLES = r"""
- name: Write the config file of an endpoint
  inferops.sglang.sglang_config:
    path: /etc/sglang/sglang.yaml
    python: /opt/sglang/venv/bin/python
    group: sglang
    arguments:
      model-path: /srv/models/Kimi-K2.6
      tp-size: 8
      trust-remote-code: true
"""

RETURN = r"""
version:
  description: The installed SGLang's version; empty where it is not installed yet.
  type: str
  returned: success
  sample: 0.5.23
command_line:
  description: Words that belong on the command line, because SGLang refuses them in a config file.
  type: list
  elements: str
  returned: success
  sample: ["--no-enable-tf32-matmul"]
restart_reasons:
  description: One sentence for everything that is newer than the running process; empty when nothing runs or nothing is newer.
  type: list
  elements: str
  returned: success
"""

import hashlib
import json
import os
import tempfile
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch import arguments as core
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.probe import SCRIPT
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.ports import holder
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.processes import Processes

# What was judged before, by unit file name: the parser is asked again only when the arguments or the installation change.
RECEIPTS = "/var/lib/inferops/sglang_config"

# Asking must not write bytecode into the venv, and needs no GPU.
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "SGLANG_USE_CPU_ENGINE": "1"}


def installed(python: str) -> tuple[str, str]:
    """(version, identity of the installation): the dist-info directory's name and when it was written."""
    library = os.path.join(os.path.dirname(os.path.dirname(python)), "lib")
    for interpreter in sorted(os.listdir(library)) if os.path.isdir(library) else []:
        packages = os.path.join(library, interpreter, "site-packages")
        for name in sorted(os.listdir(packages)) if os.path.isdir(packages) else []:
            if name.startswith("sglang-") and name.endswith(".dist-info"):
                written = os.stat(os.path.join(packages, name, "METADATA")).st_mtime_ns
                return name[len("sglang-") : -len(".dist-info")], f"{name} {written}"
    return "", ""


def judge(module: AnsibleModule, requested: dict[str, core.Value], identity: str) -> core.Plan:
    """The plan for these arguments on this installation: by the parser's remembered answer, or by asking it."""
    receipt = os.path.join(RECEIPTS, os.path.basename(module.params["path"]) + ".json")
    question = hashlib.sha256(json.dumps([identity, requested]).encode()).hexdigest()
    answer = remembered(receipt, question) or ask(module, requested)
    plan = core.plan(requested, answer)
    if not module.check_mode and not remembered(receipt, question):
        os.makedirs(RECEIPTS, mode=0o700, exist_ok=True)
        write(module, receipt, json.dumps({"question": question, "answer": answer}), mode=0o600)
    return plan


def remembered(receipt: str, question: str) -> dict[str, Any]:
    try:
        with open(receipt, encoding="utf-8") as handle:
            known = json.load(handle)
    except (OSError, ValueError):
        return {}
    answer: dict[str, Any] = known.get("answer", {}) if known.get("question") == question else {}
    return answer


def ask(module: AnsibleModule, requested: dict[str, core.Value]) -> dict[str, Any]:
    python = module.params["python"]
    # Importing SGLang makes caches below the home of whoever asks; this home goes with its caches.
    with tempfile.TemporaryDirectory(prefix="inferops-") as home:
        status, out, err = module.run_command(
            [python, "-c", SCRIPT],
            data=json.dumps(requested),
            environ_update=dict(ENVIRONMENT, HOME=home, XDG_CACHE_HOME=home, SGLANG_CACHE_DIR=home),
        )
    if status != 0:
        last = (err.strip().splitlines() or ["no output"])[-1]
        module.fail_json(
            msg=f"SGLang's own parser could not be asked, because importing it with {python} failed: {last}. "
            "Repair the venv (role venv_sync proves its imports), or the toolchain it needs.",
            stderr_lines=err.strip().splitlines()[-20:],
        )
    answer: dict[str, Any] = json.loads(out)
    return answer


def write(module: AnsibleModule, path: str, text: str, mode: int) -> None:
    """Stage with the final permissions, then rename: nobody reads half a file or a world-readable secret."""
    staged = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.new")
    descriptor = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as handle:
        handle.write(text)
    os.chmod(staged, mode)
    if path == module.params["path"]:
        module.set_owner_if_different(staged, module.params["owner"], False)
        module.set_group_if_different(staged, module.params["group"], False)
    module.atomic_move(staged, path)


def refuse_a_taken_port(module: AnsibleModule, requested: dict[str, core.Value]) -> None:
    """Fail with the name of the program that listens where the unit would."""
    given = {name: words[0] for name, words in requested.items() if isinstance(words, list) and words}
    host, port = given.get("host", "127.0.0.1"), given.get("port", "")
    if not (module.params["check_port"] and module.params["unit"] and port.isdigit()):
        return
    owner = holder(Processes(), module.params["unit"], host, int(port))
    if not owner:
        return
    sentence = (
        f"Port {port} is taken by {owner}, so {module.params['unit']} could not listen on {host}:{port}. "
        "Stop that program, or choose another port (sglang_service_port)."
    )
    if module.check_mode:
        module.warn(sentence)
    else:
        module.fail_json(msg=sentence)


def restart_reasons(module: AnsibleModule) -> list[str]:
    """What is newer than the unit's running main process."""
    if not module.params["unit"]:
        return []
    properties = ["ActiveState", "MainPID", "ExecMainStartTimestampMonotonic", "FragmentPath"]
    status, out, _err = module.run_command(
        ["systemctl", "show", module.params["unit"], *("--property=" + name for name in properties)]
    )
    shown = dict(line.split("=", 1) for line in out.splitlines() if "=" in line)
    if status != 0 or shown.get("ActiveState") != "active" or shown.get("MainPID", "0") == "0":
        return []
    age = time.clock_gettime(time.CLOCK_MONOTONIC) - int(shown["ExecMainStartTimestampMonotonic"]) / 1e6
    started = time.time() - age
    reasons = []
    for path in [module.params["path"], shown.get("FragmentPath", ""), *module.params["runs_from"]]:
        if path and os.path.exists(path) and changed_at(path) > started:
            reasons.append(f"{path} changed after {module.params['unit']} had started.")
    return reasons


def changed_at(path: str) -> float:
    """When a file's content changed; for a directory also when it was put in place (a rename updates ctime)."""
    status = os.stat(path)
    return max(status.st_mtime, status.st_ctime) if os.path.isdir(path) else status.st_mtime


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "python": {"type": "path", "required": True},
            "arguments": {"type": "dict", "required": True},
            "secret_arguments": {"type": "dict", "default": {}, "no_log": True},
            "owner": {"type": "str", "default": "root"},
            "group": {"type": "str", "default": "root"},
            "unit": {"type": "str"},
            "check_port": {"type": "bool", "default": True},
            "runs_from": {"type": "list", "elements": "path", "default": []},
        },
        supports_check_mode=True,
    )
    path, python = module.params["path"], module.params["python"]
    if not path.endswith((".yaml", ".yml")):
        module.fail_json(
            msg=f"path is {path}, but SGLang reads only config files that end in .yaml or .yml; rename it."
        )
    secrets = [str(key).lstrip("-").replace("_", "-") for key in module.params["secret_arguments"]]
    version, identity = installed(python)
    try:
        requested = core.normalise({**module.params["arguments"], **module.params["secret_arguments"]})
        refuse_a_taken_port(module, requested)
        if identity and os.path.exists(python):
            plan = judge(module, requested, identity)
        elif module.check_mode:
            module.warn(
                f"SGLang is not installed in the venv of {python} yet, so its parser could not judge the arguments."
            )
            plan = core.Plan(
                {key: value if isinstance(value, bool) else value[0] for key, value in requested.items() if value}, []
            )
        else:
            module.fail_json(
                msg=f"There is no SGLang in the venv of {python}. Sync or install the venv first (role venv_sync)."
            )
    except core.ArgumentsError as error:
        module.fail_json(
            msg=f"{len(error.problems)} of the server arguments cannot be used. {error}", problems=error.problems
        )

    header = f"Managed by Ansible (inferops.sglang); judged by the parser of SGLang {version or '(not installed yet)'}."
    wanted = core.render(plan.config, header)
    current = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as handle:
            current = handle.read()
    changed = current != wanted
    if changed and not module.check_mode:
        write(module, path, wanted, mode=0o640)
    if os.path.exists(path):
        changed = module.set_mode_if_different(path, "0640", changed)
        changed = module.set_owner_if_different(path, module.params["owner"], changed)
        changed = module.set_group_if_different(path, module.params["group"], changed)
    module.exit_json(
        changed=changed,
        version=version,
        command_line=plan.command_line,
        restart_reasons=restart_reasons(module),
        diff={
            "before_header": path,
            "after_header": path,
            "before": core.redacted(current, secrets),
            "after": core.redacted(wanted, secrets),
        },
    )


if __name__ == "__main__":
    main()
