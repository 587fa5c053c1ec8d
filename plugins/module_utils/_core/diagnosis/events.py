# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything in a log that could be the cause of a failure, as events in the order of time.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import Event
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.noise import (
    FATAL_HEADER,
    SURVIVED_HEADER,
    TERMINAL,
    harmless,
    is_sign_of_life,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.tracebacks import (
    Traceback,
    exception_line,
    find_tracebacks,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import UNIT, Entry

_ARGUMENTS = re.compile(
    r"^(?:[\w./-]+\.py|sglang(?: serve)?|[\w-]+): error: "
    r"((?:unrecognized arguments|argument |the following arguments|ambiguous option).*)"
)
# `python -m` of what is not there, which is told in one line
_NOT_STARTED = re.compile(
    r"Error while finding module specification for '[\w.]+' \((\w+): (.+)\)$|^\S*python[\d.]*: (No module named \S+)$"
)
_TERMINATE = re.compile(r"terminate called after throwing an instance of '([^']+)'")
_WHAT = re.compile(r"^\s*what\(\):\s*(.*)")
_FATAL_PYTHON = re.compile(r"Fatal Python error: (.*)")
_DUMP_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+) in (.+)$')
_COMPILER = re.compile(
    r"(?::\d+:\d+: fatal error: |^fatal\s+: |\bnvcc fatal|\bptxas fatal|\bcatastrophic error: "
    r"|: cannot find -l|: nvcc: (?:command )?not found|ptxas .*: error|^error: command .* failed)"
)
_PLAIN_FATAL = re.compile(r"ERROR: +(\[Errno \d+\] .*)")
_WATCHDOG = re.compile(r"((?:Scheduler )?[Ww]atchdog timeout \(self\.watchdog_timeout(?!.*self\.soft=True).*)")
_NATIVE = re.compile(r"Subprocess (\S+) \(pid=(\d{1,10})\) crashed with exit code (-?\d+)")
_DIED_STARTING = re.compile(r"Rank (\d+) scheduler died during initialization")
# Exceptions that say less than what was raised while they were handled.
_POOR = frozenset(("KeyError", "IndexError", "StopIteration", "CalledProcessError", "LookupError", "FileNotFoundError"))


def find_events(entries: list[Entry], notable: list[int]) -> list[Event]:
    """All possible causes; `fatal` is false for those that the program survived.

    `notable` are the places of the entries that `interesting` lets through.
    """
    tracebacks = find_tracebacks(entries)
    inside: set[int] = set()
    for traceback in tracebacks:
        inside.update(range(traceback.index, traceback.last + 1))
    last_sign = _last_signs_of_life(entries)
    events = [_of_traceback(traceback, entries, last_sign) for traceback in tracebacks]
    for index in notable:
        entry = entries[index]
        if harmless(entry.text):
            continue
        event = _of_line(index, entry, entries)
        if event is not None:
            events.append(event)
        elif index not in inside and entry.source == UNIT:
            raised = exception_line(entry.text, strict=True)
            if raised:
                events.append(
                    Event(index, "line", raised[0], raised[1], "", (), entry.rank, entry.pid, index, fatal=False)
                )
    return sorted(events, key=lambda event: event.index)


def _last_signs_of_life(entries: list[Entry]) -> dict[str, int]:
    """For each stream the last line that shows it at work: one that is no obituary and no part of a stop."""
    last: dict[str, int] = {}
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if entry.stream not in last and is_sign_of_life(entry):
            last[entry.stream] = index
    return last


def best_link(event_links: tuple[tuple[str, str, str], ...]) -> tuple[str, str, str]:
    """The link that tells most: the root, or what followed where the root is only a symptom of looking something up."""
    for link in event_links:
        if link[0].rsplit(".", 1)[-1] not in _POOR:
            return link
    return event_links[0]


def _of_traceback(traceback: Traceback, entries: list[Entry], last_sign: dict[str, int]) -> Event:
    links = tuple((link.type, link.message, "\n".join(link.detail)) for link in traceback.raised)
    name, message, detail = best_link(links) if links else ("", "", "")
    rooted = next((link for link in traceback.links if link.type == name and link.frames), traceback.links[0])
    header_entry = entries[traceback.index]
    if FATAL_HEADER.search(traceback.header):
        fatal = True
    elif SURVIVED_HEADER.search(traceback.header):
        fatal = False
    else:
        fatal = last_sign.get(header_entry.stream, -1) <= traceback.index
    return Event(
        traceback.index,
        "traceback",
        name,
        message,
        detail,
        tuple(rooted.frames),
        traceback.rank,
        traceback.pid,
        traceback.last,
        fatal,
        traceback.complete,
        traceback.header,
        links,
    )


def _of_line(index: int, entry: Entry, entries: list[Entry]) -> Event | None:
    """The event that a single line announces, or None."""
    text = entry.text
    found = _ARGUMENTS.search(text)
    if found:
        return Event(index, "arguments", "ArgumentError", found.group(1), "", (), entry.rank, entry.pid, index)
    found = _NOT_STARTED.search(text)
    if found:
        name, message = (found.group(1), found.group(2)) if found.group(1) else ("ModuleNotFoundError", found.group(3))
        return Event(index, "line", name, message, text.strip(), (), entry.rank, entry.pid, index)
    found = _TERMINATE.search(text)
    if found:
        what = next((m.group(1) for m in map(_WHAT.match, _following(index, entry, entries, 3)) if m), "")
        rank, pid = _obituary(index, entry, entries)
        return Event(index, "native", found.group(1), what, "", (), rank, pid, index + 1)
    found = _FATAL_PYTHON.search(text)
    if found:
        frames, last = _dump(index, entry, entries)
        rank, pid = _obituary(last, entry, entries)
        return Event(index, "native", "Fatal Python error", found.group(1), "", frames, rank, pid, last)
    if _COMPILER.search(text):
        return Event(index, "compiler", "", text.strip(), "", (), entry.rank, entry.pid, index)
    found = _PLAIN_FATAL.search(text)
    if found and TERMINAL.search(text):
        return Event(index, "line", "OSError", found.group(1), "", (), entry.rank, entry.pid, index)
    found = _WATCHDOG.search(text)
    if found:
        return Event(index, "hang", "", found.group(1), "", (), entry.rank, entry.pid, index)
    found = _NATIVE.search(text)
    if found and found.group(3) not in ("-15", "-3"):
        name, pid = found.group(1), int(found.group(2))
        return Event(
            index, "death", "", f"{name} died with exit code {found.group(3)}", "", (), _rank(name), pid, index
        )
    return None


def _rank(process_name: str) -> str:
    number = re.search(r"scheduler_(\d+)", process_name)
    return f"TP{number.group(1)}" if number else ""


def _obituary(index: int, entry: Entry, entries: list[Entry]) -> tuple[str, int | None]:
    """Rank and process of a native crash: its own lines name neither, but the parent's line about it does."""
    own = entry.rank if entry.pid is not None else ""  # without a pid a bare line only has its neighbour's rank
    for other in entries[index : index + 60]:
        starting = _DIED_STARTING.search(other.text)
        if starting:
            return own or f"TP{starting.group(1)}", entry.pid
        found = _NATIVE.search(other.text)
        if found and (entry.pid is None or entry.pid == int(found.group(2))):
            return own or _rank(found.group(1)), int(found.group(2))
    return entry.rank, entry.pid


def _following(index: int, entry: Entry, entries: list[Entry], count: int) -> list[str]:
    after = (other for other in entries[index + 1 : index + 40] if other.stream == entry.stream)
    return [other.text for _number, other in zip(range(count), after)]


def _dump(index: int, entry: Entry, entries: list[Entry]) -> tuple[tuple[str, ...], int]:
    """The frames of the crashing thread in faulthandler's dump (most recent call first), and where the dump ends."""
    frames: list[str] = []
    current, last = False, index
    for number in range(index + 1, min(index + 3000, len(entries))):
        other = entries[number]
        if other.stream != entry.stream:
            continue
        if other.stamped:
            break
        if "(most recent call first)" in other.text:
            current = other.text.lstrip().startswith("Current thread")
        found = _DUMP_FRAME.match(other.text)
        if found:
            last = number
            if current:
                frames.append(f"{found.group(1)}:{found.group(2)} in {found.group(3)}")
    frames.reverse()
    return tuple(frames), last
