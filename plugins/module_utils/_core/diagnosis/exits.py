# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the unit ended, read correctly.

SGLang ends itself with SIGKILL after any failure of a child (measured, 0.5.23): `code=killed, status=9/KILL` and 137 are
its own doing unless systemd says `oom-kill` or the kernel says so.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from typing import Any

from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import KERNEL, SYSTEMD, Entry

_MAIN = re.compile(r"Main process exited, code=(\w+), status=(\d{1,9})(?:/(\w+))?")
_RESULT = re.compile(r"Failed with result '([\w-]+)'")
_STATUS = re.compile(r"^exit (\d{1,3})$")
_OOM_KILL = re.compile(r"Out of memory: Killed process|oom-kill:constraint|Memory cgroup out of memory|OOM killer")

# systemd.exec(5), "Process Exit Codes": the unit's own settings failed before the program ran.
_SYSTEMD_STATUS = {
    200: "the working directory does not exist (200/CHDIR)",
    203: "the program in ExecStart could not be executed (203/EXEC)",
    209: "standard output could not be set up (209/STDOUT)",
    216: "the group does not exist (216/GROUP)",
    217: "the user does not exist (217/USER)",
    226: "the unit's mount namespace could not be set up (226/NAMESPACE)",
    243: "a credential could not be read (243/CREDENTIALS)",
}
# SGLang 0.5.23, measured.
_OWN_STATUS = {
    1: "SGLang refused its configuration, or a rank died natively while starting",
    2: "SGLang did not accept its arguments",
    126: "the program could not be executed: its interpreter is missing, or it is for another processor",
    127: "the program, or a library that it needs, was not found",
    3: "the HTTP server could not start, usually because the port is in use",
}


@dataclass(frozen=True)
class UnitExit:
    """What systemd knows of the end: `code` is exited, killed or dumped; `status` a status or signal number."""

    code: str = ""
    status: int | None = None
    result: str = ""


def read_exit(entries: list[Entry], known: UnitExit | None = None) -> dict[str, Any] | None:
    """`{code, signal, result, meaning}` of the end that the log or systemd reports; None where nothing has ended."""
    code, status, result = ("", None, "")
    for entry in entries:
        if entry.source == SYSTEMD:
            found = _MAIN.search(entry.text)
            if found:
                code, status = found.group(1), int(found.group(2))
            found = _RESULT.search(entry.text)
            if found:
                result = found.group(1)
        found = _STATUS.match(entry.text) if not entry.stamped else None
        if found:
            status = int(found.group(1))
            code = "killed" if status > 128 else "exited"
            status = status - 128 if status > 128 else status
    if known is not None:
        code, result = known.code or code, known.result or result
        status = known.status if known.status is not None else status
    if status is None and not result:
        return None
    killed = code in ("killed", "dumped")
    name = _signal_name(status) if killed else ""
    return {
        "code": status if not killed else None,
        "signal": name,
        "result": result,
        "meaning": _meaning(code, status, name, result, oom_killed(entries)),
    }


def oom_killed(entries: list[Entry]) -> bool:
    """True where the kernel or systemd says that the out-of-memory killer struck."""
    return any(entry.source in (KERNEL, SYSTEMD) and _OOM_KILL.search(entry.text) for entry in entries)


def _signal_name(number: int | None) -> str:
    try:
        return signal.Signals(number or 0).name
    except ValueError:
        return f"signal {number}"


def _meaning(code: str, status: int | None, name: str, result: str, oom: bool) -> str:
    if result == "oom-kill" or (oom and name == "SIGKILL"):
        return "the kernel's out-of-memory killer ended it"
    if result == "timeout":
        return "systemd ended it because a time limit of the unit was over"
    if result == "start-limit-hit":
        return "systemd gave up restarting it: it failed too often (systemctl reset-failed allows a new try)"
    if name == "SIGKILL":
        return "SGLang killed itself after a failure of one of its processes; this is no out-of-memory kill"
    if name == "SIGTERM":
        return "it was asked to stop before it served"
    if name:
        return f"it was ended by {name}" + (" and left a core dump" if code == "dumped" else "")
    if status == 0:
        return "it ended by itself or finished a stop"
    return _SYSTEMD_STATUS.get(status or 0) or _OWN_STATUS.get(status or 0) or f"it ended with status {status}"
