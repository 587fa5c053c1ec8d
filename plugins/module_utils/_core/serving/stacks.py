# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where each rank of a stuck server stands, by py-spy (which SGLang brings along).

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
import os
import re
import stat
from typing import Any, Callable

from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.processes import Processes
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.unit import UnitState

RunCommand = Callable[[list], Any]  # argv -> (rc, stdout, stderr)
MOST_PROCESSES = 17  # sixteen ranks and their parent
MOST_FRAMES = 8
SECONDS_FOR_ONE = 15
_TITLE = re.compile(r"^sglang::(\w+?)(?:_((?:[A-Z]+_)*[A-Z]+\d.*))?$")  # sglang::scheduler_DP0_TP3


def find_py_spy(processes: Processes, main_pid: int) -> tuple[str, str]:
    """(path, reason): py-spy of the server's own venv, else of its search path; or why there is none that may run.

    We run it as root, so nobody else may be able to write it.
    """
    words = processes.words(main_pid)[:1]
    beside = [os.path.dirname(word) for word in words if os.path.isabs(word)]
    search = processes.environment(main_pid).get("PATH", "").split(":")
    for directory in dict.fromkeys([*beside, *search]):
        path = os.path.join(directory, "py-spy")
        if not os.path.isabs(directory) or not os.access(path, os.X_OK):
            continue
        if _only_ours(path):
            return path, ""
        return "", f"{path} can be written by others than root, so it was not run"
    return "", "there is no py-spy in the server's venv (pip install py-spy puts it there)"


def stacks(run_command: RunCommand, processes: Processes, unit: UnitState) -> tuple[list[dict[str, Any]], str]:
    """Where the ranks, and then the main process, stand; with a reason where that cannot be known.

    Each stack holds `rank`, `pid` and `frames`, innermost first, as `function (file.py:line)`.
    """
    path, reason = find_py_spy(processes, unit.main_pid)
    if not path:
        return [], reason
    found = []
    for rank, pid in _subjects(processes, unit)[:MOST_PROCESSES]:
        argv = ["timeout", "--kill-after=2", str(SECONDS_FOR_ONE), path, "dump", "--json", "--nonblocking", "--pid"]
        status, out, err = run_command([*argv, str(pid)])
        frames = main_thread(out, pid) if status == 0 else []
        if frames:
            found.append({"rank": rank, "pid": pid, "frames": frames})
        else:
            reason = f"py-spy could not read pid {pid}: {(err.strip().splitlines() or ['no answer in time'])[-1]}"
    return found, "" if found else reason


def main_thread(text: str, pid: int) -> list[str]:
    """The innermost frames of the main thread in `py-spy dump --json`, or of the first thread that has any."""
    try:
        threads = [thread for thread in json.loads(text) if thread.get("frames")]
        threads.sort(key=lambda thread: thread.get("os_thread_id") != pid)
        frames = threads[0]["frames"][:MOST_FRAMES]
        return [f"{frame['name']} ({frame['short_filename']}:{frame['line']})" for frame in frames]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return []


def in_words(found: list[dict[str, Any]]) -> str:
    """`TP0, TP2 stand in all_reduce (distributed_c10d.py:2810); TP1 stands in _build (build.py:54).`"""
    places: dict[str, list[str]] = {}
    for one in found:
        if one["rank"]:
            called = f", called by {one['frames'][1]}" if len(one["frames"]) > 1 else ""
            places.setdefault(one["frames"][0] + called, []).append(one["rank"])
    clauses = [
        f"{', '.join(ranks)} {'stands' if len(ranks) == 1 else 'stand'} in {place}"
        # The rank that stands elsewhere is the one the others wait for.
        for place, ranks in sorted(places.items(), key=lambda item: len(item[1]))
    ]
    return "; ".join(clauses) + "." if clauses else ""


def _subjects(processes: Processes, unit: UnitState) -> list[tuple[str, int]]:
    ranks, others = [], []
    for pid in processes.of_unit(unit.cgroup, unit.main_pid):
        title = _TITLE.match(" ".join(processes.words(pid)).strip())
        if title and title.group(1) == "scheduler":
            rank = (title.group(2) or "TP0").replace("_", " ")
            ranks.append((rank, pid))
        elif pid == unit.main_pid:
            others.append(("", pid))
    by_number = sorted(ranks, key=lambda one: [int(number) for number in re.findall(r"\d+", one[0])])
    return by_number + others


def _only_ours(path: str) -> bool:
    for name in (path, os.path.dirname(path)):
        status = os.stat(name)
        if status.st_uid not in (0, os.geteuid()) or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False
    return True
