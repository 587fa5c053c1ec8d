# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: toolchain_info
short_description: Say whether a host can compile C extensions for a Python interpreter
version_added: "0.1.0"
description:
  - Looks for what SGLang's libraries need when they compile at run time. If all of it is there, compiles a small C
    extension in a temporary directory and imports it with exactly that interpreter.
  - What is missing is returned, not a failure.
author: The inferops.sglang maintainers (@inferops)
options:
  python:
    description: The interpreter, best without a virtual environment around it.
    type: path
    required: true
  cuda:
    description: Whether C(nvcc) is needed as well.
    type: bool
    default: false
extends_documentation_fragment:
  - inferops.sglang.attributes.info_module
attributes:
  check_mode:
    support: full
    details: It compiles in a directory of its own, and leaves nothing behind.
seealso:
  - module: inferops.sglang.venv_info
"""

EXAMPLES = r"""
- name: See whether Triton could compile for the venv's interpreter
  inferops.sglang.toolchain_info:
    python: /usr/bin/python3.12
  register: toolchain

- name: Show what is missing
  ansible.builtin.debug:
    msg: "{{ toolchain.problems | map(attribute='message') }}"
"""

RETURN = r"""
compiled:
  description: Whether a C extension was compiled and imported.
  type: bool
  returned: always
problems:
  description: What keeps it from working.
  type: list
  elements: dict
  returned: always
  contains:
    missing:
      description: The file or program that is missing; empty where the compilation itself failed.
      type: str
    package:
      description: The Debian package that brings it; empty if none does.
      type: str
    message:
      description: Both as a sentence.
      type: str
version:
  description: The interpreter's version; empty where it does not start.
  type: str
  returned: always
  sample: 3.12.3
python_include:
  description: Where the interpreter's headers belong.
  type: str
  returned: always
  sample: /usr/include/python3.12
header_package:
  description: The Debian package that brings them; empty if the interpreter is not the distribution's own.
  type: str
  returned: always
  sample: python3.12-dev
nvcc:
  description: Path of the CUDA compiler; empty if there is none.
  type: str
  returned: always
nvcc_version:
  description: Its release.
  type: str
  returned: always
  sample: "13.0"
"""

import os
import tempfile
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import anatomy, host, toolchain


def find_tools(module: AnsibleModule, environment: dict[str, str]) -> tuple[toolchain.Tools, str]:
    python = module.params["python"]
    answer = host.ask_python(module.run_command, python)
    candidates = [path for path in toolchain.nvcc_candidates(environment) if os.access(path, os.X_OK)]
    tools = toolchain.Tools(
        python=python,
        header_package=anatomy.header_package(os.path.realpath(python)),
        include=answer.get("include", ""),
        headers=answer.get("headers_present", False),
        cc=module.get_bin_path("cc") or "",
        cxx=module.get_bin_path("c++") or "",
        ninja=module.get_bin_path("ninja") or "",
        nvcc=module.get_bin_path("nvcc") or next(iter(candidates), ""),
    )
    return tools, answer.get("version", "")


def compile_and_import(module: AnsibleModule, tools: toolchain.Tools) -> list[toolchain.Problem]:
    with tempfile.TemporaryDirectory(prefix=".toolchain_info-", dir=host.workplace()) as directory:
        return compile_and_import_in(directory, module, tools)


def compile_and_import_in(directory: str, module: AnsibleModule, tools: toolchain.Tools) -> list[toolchain.Problem]:
    source = os.path.join(directory, "inferops_probe.c")
    with open(source, "w", encoding="ascii") as stream:
        stream.write(toolchain.EXTENSION)
    library = os.path.join(directory, "inferops_probe.so")
    command = [tools.cc, "-shared", "-fPIC", f"-I{tools.include}", source, "-o", library]
    status, out, err = module.run_command(command, environ_update={"LC_ALL": "C"})
    if status != 0:
        return [toolchain.failed_build("compiled", err + out)]
    status, out, err = module.run_command([tools.python, "-I", "-c", toolchain.IMPORT, directory])
    return [toolchain.failed_build("imported", err + out)] if status != 0 else []


def etc_environment() -> dict[str, str]:
    try:
        with open("/etc/environment", encoding="utf-8", errors="replace") as stream:
            return toolchain.read_environment(stream.read())
    except FileNotFoundError:
        return {}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "python": {"type": "path", "required": True},
            "cuda": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    environment = etc_environment()
    tools, version = find_tools(module, environment)
    problems = toolchain.problems(tools, module.params["cuda"], environment)
    if tools.include and tools.headers and tools.cc:
        failures = compile_and_import(module, tools)
        compiled = not failures
        problems.extend(failures)
    else:
        compiled = False
    result: dict[str, Any] = {
        "compiled": compiled,
        "problems": [problem._asdict() for problem in problems],
        "version": version,
        "python_include": tools.include,
        "header_package": tools.header_package,
        "nvcc": tools.nvcc,
        "nvcc_version": toolchain.nvcc_version(module.run_command([tools.nvcc, "--version"])[1]) if tools.nvcc else "",
    }
    module.exit_json(changed=False, **result)


if __name__ == "__main__":
    main()
