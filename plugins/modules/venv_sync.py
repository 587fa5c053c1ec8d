# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: venv_sync
short_description: Make a Python virtual environment the same as another host's
version_added: "0.1.0"
description:
  - Brings the virtual environment of a reference host to this one, at the same path, through the controller.
    The two hosts need not reach each other, and any connection plugin will do.
  - Only contents that the target lacks travel, each once, compressed, and are proved by their SHA-256.
  - The new tree is built beside the live one, which stays untouched and in use, and is proved by importing from it.
    Then it takes the live one's place by a rename; the tree that was live is kept for a way back.
  - What would keep the virtual environment from working here is named before anything is copied.
  - A transfer that was interrupted goes on where it stopped when the task is run again.
author: The inferops.sglang maintainers (@inferops)
options:
  reference:
    description:
      - The host of the inventory that has the virtual environment. It is reached with its own connection variables
        and with the C(become) of this task.
      - On the reference itself the module does nothing.
    type: str
    required: true
  path:
    description: The directory of the virtual environment on both hosts. Its parent is created where it is missing.
    type: path
    required: true
  imports:
    description: Modules that must be importable from the new tree before it takes the live one's place.
    type: list
    elements: str
    default: []
  imports_always:
    description: Whether O(imports) are also proved when nothing changed.
    type: bool
    default: false
  imports_environment:
    description: Environment variables for these imports.
    type: dict
    default: {}
  exclude:
    description:
      - Shell patterns of names, or of paths relative to O(path), that do not travel.
      - The new tree does not have them, even if the tree that was live did.
    type: list
    elements: str
    default: []
  bytecode:
    description:
      - Whether compiled bytecode (C(__pycache__)) travels along with other differences. That saves the first start
        from compiling it.
      - Bytecode alone never makes a difference, as it appears with every import.
    type: bool
    default: true
  accept_hazards:
    description:
      - Hazards that are taken without refusing, by their C(id).
      - They are C(base_python_missing), C(base_python_version), C(machine), C(editable) and C(outside_paths).
    type: list
    elements: str
    default: []
  keep_previous:
    description: Whether the tree that was live stays as O(path) + C(.prev). One is kept.
    type: bool
    default: true
  chunk_mib:
    description:
      - The size of what travels at once, in MiB before compression. Up to three chunks lie on the controller, and
        one on each host, in temporary directories.
    type: int
    default: 256
  compression:
    description: How chunks are compressed. V(auto) is V(zstd) where both hosts have it, and V(gzip) otherwise.
    type: str
    choices: [auto, zstd, gzip, none]
    default: auto
extends_documentation_fragment:
  - inferops.sglang.attributes
  - inferops.sglang.attributes.action
attributes:
  check_mode:
    support: full
    details: Both trees are compared, and hazards lead to the same failure. Files that no receipt vouches for are read.
  diff_mode:
    support: full
    details: Shows at most 40 paths, and how many more there are.
  idempotent:
    support: full
    details: Two walks over the metadata, one on each host, show that nothing changed.
  async:
    support: none
    details: Progress is shown while the task runs.
  action:
    support: full
    details: All of it is; the two halves on the hosts are M(inferops.sglang.venv_pack) and
      M(inferops.sglang.venv_receive).
  platform:
    support: full
    platforms: linux
notes:
  - All files of the new tree belong to the user that the module runs as on the target.
  - With C(become) to another user than root, the reference's half cannot write where that host's connection user can
    fetch from.
  - A service that runs from the tree has to be restarted after a change.
seealso:
  - module: inferops.sglang.venv_info
"""

EXAMPLES = r"""
- name: Bring the reference's venv here
  inferops.sglang.venv_sync:
    reference: ct200-01
    path: /root/venv_sglang211
    imports: [torch, sglang]
"""

RETURN = r"""
path:
  description: The directory of the virtual environment.
  type: str
  returned: when the host is not the reference
reference:
  description: The host that it comes from.
  type: str
  returned: when the host is not the reference
fingerprint:
  description: The identity of the tree, as V(content) of M(inferops.sglang.venv_info) has it where nothing is excluded.
  type: str
  returned: when the host is not the reference
files:
  description: How many files the tree has.
  type: int
  returned: when the host is not the reference
total_bytes:
  description: The size of all of them.
  type: int
  returned: when the host is not the reference
added:
  description: How many paths the target lacked.
  type: int
  returned: when the host is not the reference
modified:
  description: How many paths were something else.
  type: int
  returned: when the host is not the reference
removed:
  description: How many paths the reference does not have.
  type: int
  returned: when the host is not the reference
bytes:
  description: How much had to travel, before compression.
  type: int
  returned: when the host is not the reference
transfer_seconds:
  description: How long that took.
  type: float
  returned: when something changed, not in check mode
hazards:
  description: What speaks against the move, each with C(id), C(stops) and C(message).
  type: list
  elements: dict
  returned: when something changed
evidence:
  description: The last lines of an import that failed.
  type: list
  elements: str
  returned: when an import failed
"""

from ansible.module_utils.basic import AnsibleModule


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "reference": {"type": "str", "required": True},
            "path": {"type": "path", "required": True},
            "imports": {"type": "list", "elements": "str", "default": []},
            "imports_always": {"type": "bool", "default": False},
            "imports_environment": {"type": "dict", "default": {}},
            "exclude": {"type": "list", "elements": "str", "default": []},
            "bytecode": {"type": "bool", "default": True},
            "accept_hazards": {"type": "list", "elements": "str", "default": []},
            "keep_previous": {"type": "bool", "default": True},
            "chunk_mib": {"type": "int", "default": 256},
            "compression": {"type": "str", "choices": ["auto", "zstd", "gzip", "none"], "default": "auto"},
        },
        supports_check_mode=True,
    )
    module.fail_json(msg="venv_sync connects two hosts and so runs through its action plugin on the controller")


if __name__ == "__main__":
    main()
