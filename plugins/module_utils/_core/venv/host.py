# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host says about itself, as far as a venv depends on it. Processes are started by what is handed in.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
import os
from typing import Any, Callable

# As AnsibleModule.run_command: takes argv, returns the exit status, standard output and standard error.
RunCommand = Callable[..., Any]

# -I -S: nothing of the user's environment and no .pth file of the venv runs.
ASK = """
import json, os, sys, sysconfig
include = sysconfig.get_path("include", vars={"installed_base": sys.base_prefix, "base": sys.base_prefix})
print(json.dumps({
    "version": "%d.%d.%d" % sys.version_info[:3],
    "include": include,
    "headers_present": os.path.isfile(os.path.join(include, "Python.h")),
}))
"""


def ask_python(run_command: RunCommand, python: str) -> dict[str, Any]:
    """``version``, ``include`` and ``headers_present`` of an interpreter; empty if it does not start."""
    if not os.path.exists(python):
        return {}
    status, out, _err = run_command([python, "-I", "-S", "-c", ASK], environ_update={"LC_ALL": "C"})
    if status != 0:
        return {}
    answer: dict[str, Any] = json.loads(out)
    return answer


def glibc_version() -> str:
    """The version of this host's C library, as ``2.36``; empty where it is another one."""
    try:
        name, _space, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    except ValueError:
        return ""
    return version if name == "glibc" else ""


def cache_directory(is_root: bool) -> str:
    """Where receipts stand: never inside a tree, which may be a read-only mount."""
    return "/var/cache/inferops/venv" if is_root else os.path.expanduser("~/.cache/inferops/venv")


def workplace() -> str | None:
    """Where to compile something and import it: /tmp is often mounted noexec. None where the home cannot be written."""
    home = os.path.expanduser("~")
    return home if os.access(home, os.W_OK | os.X_OK) else None


def hand_over(path: str) -> None:
    """Let the connection's user fetch a file where the module runs as root and that user is another one.

    The directory of the file is that user's.
    """
    owner = os.stat(os.path.dirname(path))
    if os.geteuid() == 0:
        os.chown(path, owner.st_uid, owner.st_gid)
