# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands near the cause and belongs to it. PRIVATE to the collection.

A line of the kernel or of a compiler names no exception, but the process it struck raises one within seconds. An exception
of NCCL or of CUDA says that something failed, and a line before it says what.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.matching import Match
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import Event
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.noise import SECONDARY
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import KERNEL, Entry

_SECONDS = 30.0  # a line without a prefix bears the time of the line before it
_LINES = 400
# NVRM, the out-of-memory killer, and traps of the kernel
_PROCESS = re.compile(r"\bpid=(\d+)|Killed process (\d+)|^\S+\[(\d+)\][: ]")
# An exception that only says that something failed, and the line before it that says what.
_SAID_BEFORE = (
    (re.compile(r"NCCL error|ncclUnhandledCudaError|ncclSystemError"), re.compile(r"NCCL WARN (?!NET/Plugin)")),
    (re.compile(r"device-side assert"), re.compile(r"Assertion `.*` failed")),
)
_BUILD = re.compile(r"Ninja build failed|Error building extension")
_COMPILER = re.compile(
    r"(?:^|[\s:)])(?:fatal )?error\s*:|\bfatal\s*:|died due to signal|undefined reference", re.IGNORECASE
)


def with_context(match: Match, events: list[Event], entries: list[Entry]) -> Match:
    """The match with the process, rank and exception that belong to its line, or the line that belongs to its exception."""
    if match.event.kind in ("line", "compiler") and not match.type:
        return _with_process(match, events, entries)
    return replace(match, cause_line=_said_before(match, entries) or _said_below(match) or match.cause_line)


def _with_process(match: Match, events: list[Event], entries: list[Entry]) -> Match:
    event = match.event
    entry = entries[event.index]
    pid, rank = event.pid, event.rank
    if entry.source == KERNEL:
        found = _PROCESS.search(entry.text)
        pid = int(next(filter(None, found.groups()))) if found else None
        rank = _rank(pid, entries)
    near = [
        other
        for other in events
        if other.kind in ("traceback", "native")
        and other.fatal
        and other.type
        and not SECONDARY.search(other.summary)
        and (pid is None or other.pid is None or other.pid == pid)
        and _close(entry, entries[other.index], other.index - event.index)
    ]
    if not near:
        return replace(match, event=replace(event, pid=pid, rank=rank))
    best = near[0]
    told = replace(
        event,
        type=best.type,
        message=best.message,
        frames=event.frames or best.frames,
        pid=best.pid if best.pid is not None else pid,
        rank=best.rank or rank,
        header=event.header or best.header,
    )
    return replace(match, event=told, type=best.type, message=best.message)


def _rank(pid: int | None, entries: list[Entry]) -> str:
    return next((entry.rank for entry in entries if pid is not None and entry.pid == pid and entry.rank), "")


def _close(one: Entry, other: Entry, lines: int) -> bool:
    if one.time is None or other.time is None:
        return abs(lines) <= _LINES
    return abs(one.time - other.time) <= _SECONDS


def _said_before(match: Match, entries: list[Entry]) -> str:
    for exception, line in _SAID_BEFORE:
        if not exception.search(f"{match.type}: {match.message}"):
            continue
        index = match.event.index
        for number in range(index - 1, max(-1, index - _LINES), -1):
            if line.search(entries[number].text) and _close(entries[number], entries[index], 0):
                return entries[number].text.strip()
    return ""


def _said_below(match: Match) -> str:
    """The compiler's own words in the long message of a failed build, unless a signature has found better ones."""
    if not _BUILD.search(match.cause_line):
        return ""
    return next((line.strip() for line in match.event.detail.split("\n") if _COMPILER.search(line)), "")
