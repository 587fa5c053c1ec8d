# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""model_download as one program, packed as Ansible packs it, to be timed on a host like every other program."""

from __future__ import annotations

import os
from typing import Any

from ansible.executor.module_common import modify_module
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader
from ansible.template import Templar
from lab.places import PROJECT

NAME = "inferops.sglang.model_download"
COLLECTIONS = PROJECT / "collections"
# What a task hands to every module beside its own arguments.
TASK = {
    "_ansible_check_mode": False,
    "_ansible_diff": False,
    "_ansible_no_log": False,
    "_ansible_verbosity": 0,
    "_ansible_version": "2.19",
    "_ansible_remote_tmp": "/tmp",
    "_ansible_keep_remote_files": False,
}


def prepare() -> None:
    """Let Ansible find the collection of this checkout; once a process."""
    os.environ["ANSIBLE_COLLECTIONS_PATH"] = str(COLLECTIONS)
    init_plugin_loader([str(COLLECTIONS)])


def packed(arguments: dict[str, Any]) -> bytes:
    """The text of a Python program that runs the module with *arguments* and prints its result."""
    built = modify_module(
        module_name=NAME,
        module_path=str(COLLECTIONS / "ansible_collections/inferops/sglang/plugins/modules/model_download.py"),
        module_args={**TASK, **arguments},
        templar=Templar(loader=DataLoader()),
        task_vars={"ansible_python_interpreter": "/usr/bin/python3"},
    )
    return built.b_module_data
