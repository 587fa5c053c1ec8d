# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: venv_info
short_description: Say what a Python virtual environment is made of
version_added: "0.1.0"
description:
  - Reads a virtual environment and the interpreter behind it, and names what would keep it from working on
    another host.
  - Where there is no virtual environment, RV(exists) is false and nothing fails.
author: The inferops.sglang maintainers (@inferops)
options:
  path:
    description: The directory of the virtual environment.
    type: path
    required: true
  fingerprint:
    description:
      - V(shape) is a digest over path, type, mode and size of everything but compiled bytecode. It reads no file.
      - V(content) also covers the content of every file, and is what M(inferops.sglang.venv_sync) makes equal.
        Files that a receipt vouches for are not read again; without one, all of them are.
      - V(none) leaves it out.
    type: str
    choices: [none, shape, content]
    default: shape
extends_documentation_fragment:
  - inferops.sglang.attributes.info_module
seealso:
  - module: inferops.sglang.venv_sync
"""

EXAMPLES = r"""
- name: Look at the venv of the reference
  inferops.sglang.venv_info:
    path: /root/venv_sglang211
  register: reference_venv

- name: Install the headers of its interpreter
  ansible.builtin.apt:
    name: "{{ reference_venv.header_package }}"
"""

RETURN = r"""
exists:
  description: Whether there is a virtual environment, that is a directory with a C(pyvenv.cfg).
  type: bool
  returned: always
python:
  description: Path of the virtual environment's interpreter.
  type: str
  returned: when it exists
  sample: /root/venv_sglang211/bin/python
base_link:
  description: The first path outside the virtual environment that the interpreter links to.
  type: str
  returned: when it exists
  sample: /usr/bin/python3
base_python:
  description: The interpreter itself, with all links resolved.
  type: str
  returned: when it exists
  sample: /usr/bin/python3.12
version:
  description: What the interpreter says its version is; what C(pyvenv.cfg) says where it does not start.
  type: str
  returned: when it exists
  sample: 3.12.3
python_include:
  description: The directory in which the interpreter's C headers belong; empty where it does not start.
  type: str
  returned: when it exists
  sample: /usr/include/python3.12
headers_present:
  description: Whether C(Python.h) is there.
  type: bool
  returned: when it exists
header_package:
  description: The Debian package that brings the headers; empty if the interpreter is not the distribution's own.
  type: str
  returned: when it exists
  sample: python3.12-dev
glibc:
  description: The version of the host's C library.
  type: str
  returned: when it exists
  sample: "2.39"
packages:
  description: How many distributions are installed.
  type: int
  returned: when it exists
fingerprint:
  description: The digest asked for by O(fingerprint); empty with V(none).
  type: str
  returned: when it exists
hazards:
  description: What would keep it from working on another host, or from starting on this one.
  type: list
  elements: dict
  returned: when it exists
  contains:
    id:
      description: A short name.
      type: str
    stops:
      description: Whether M(inferops.sglang.venv_sync) refuses because of it.
      type: bool
    message:
      description: A sentence.
      type: str
"""

import os
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import (
    anatomy,
    hazards,
    host,
    manifest,
    receipt,
    scan,
)


def fingerprint(path: str, kind: str) -> str:
    if kind == "none":
        return ""
    found = scan.walk(path)
    if kind == "shape":
        return manifest.identity(scan.shape(found), contents=False)
    location = receipt.location(path, host.cache_directory(os.geteuid() == 0))
    known = receipt.load(location, time.time_ns)
    return manifest.identity(scan.scan(found, path, known, time.monotonic).entries)


def describe(module: AnsibleModule) -> dict[str, Any]:
    path = module.params["path"]
    venv = anatomy.read(path)
    if not venv.exists:
        return {"exists": False}
    answer = host.ask_python(module.run_command, venv.python)
    found = hazards.of_venv(venv, starts=bool(answer))
    return {
        "exists": True,
        "python": venv.python,
        "base_link": venv.base_link,
        "base_python": venv.base_python,
        "version": answer.get("version", venv.version),
        "python_include": answer.get("include", ""),
        "headers_present": answer.get("headers_present", False),
        "header_package": anatomy.header_package(venv.base_python),
        "glibc": host.glibc_version(),
        "packages": venv.packages,
        "fingerprint": fingerprint(path, module.params["fingerprint"]),
        "hazards": [hazard.public() for hazard in found],
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "fingerprint": {"type": "str", "choices": ["none", "shape", "content"], "default": "shape"},
        },
        supports_check_mode=True,
    )
    try:
        module.exit_json(changed=False, **describe(module))
    except OSError as error:
        module.fail_json(msg=f"cannot read the venv {module.params['path']}: {error}")


if __name__ == "__main__":
    main()
