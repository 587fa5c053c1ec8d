# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events against signatures: which match, and in which order they count.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Pattern

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.evidence import redact
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    SECONDARY,
    SPECIFIC,
    Event,
    Remedy,
    Signature,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.noise import SECONDARY as SECONDARY_TEXT
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.noise import harmless
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import Entry

_FLAGS = re.IGNORECASE | re.MULTILINE
_USER, _KNOWN, _OPEN, _SURVIVED, _CONSEQUENCE = range(5)


@dataclass(frozen=True)
class Match:
    """An event with what is known about it, ready to be shown."""

    event: Event
    tier: int
    id: str
    title: str
    cause: str
    remedies: tuple[Remedy, ...]
    type: str
    message: str
    cause_line: str


@dataclass(frozen=True)
class _Compiled:
    """A signature with its patterns compiled."""

    signature: Signature
    exception: Pattern[str] | None
    frames: Pattern[str] | None
    line: Pattern[str] | None
    nearby: Pattern[str] | None
    user: bool


class Matcher:
    """Finds matches; the user's signatures are asked first."""

    def __init__(self, user: tuple[Signature, ...], builtin: tuple[Signature, ...]) -> None:
        self._signatures = [_compile(one, True) for one in user] + [_compile(one, False) for one in builtin]
        self._neighbours: dict[Pattern[str], bool] = {}

    def match(self, events: list[Event], entries: list[Entry], notable: list[int], stop: int) -> list[Match]:
        """All matches before the entry `stop`, the one that counts first; `notable` as in `find_events`."""
        matches: list[Match] = []
        for event in events:
            matches.extend(self._of_event(event, entries))
        matches.extend(self._of_lines(entries, notable, stop))
        return sorted(matches, key=lambda match: _order(match, entries))

    def _of_event(self, event: Event, entries: list[Entry]) -> list[Match]:
        links = event.links or ((event.type, event.message, event.detail),)
        for compiled in self._signatures:
            if compiled.exception is None:
                continue
            if compiled.frames is not None and not compiled.frames.search("\n".join(event.frames)):
                continue
            for name, message, detail in links:
                found = compiled.exception.search(_text(name, message, detail))
                if found and self._has_neighbour(compiled, entries):
                    return [_known(compiled, event, found, name, message, entries)]
        return [_unknown(event, entries)] if event.type or event.message or event.frames else []

    def _of_lines(self, entries: list[Entry], notable: list[int], stop: int) -> list[Match]:
        """Single lines that a signature knows; the first line of each signature is enough."""
        wanted = [compiled for compiled in self._signatures if compiled.line is not None]
        everywhere = any(compiled.user for compiled in wanted)  # a user's pattern may stand in any line
        likely = set(notable)
        matches: list[Match] = []
        for index in range(len(entries)) if everywhere else notable:
            if index >= stop:
                break
            entry = entries[index]
            noteworthy = index in likely and not harmless(entry.text)
            for compiled in list(wanted):
                if compiled.line is None or not (noteworthy or compiled.user):
                    continue
                found = compiled.line.search(entry.text)
                if not found:
                    continue
                if not self._has_neighbour(compiled, entries):
                    continue
                wanted.remove(compiled)
                event = Event(index, "line", "", entry.text.strip(), "", (), entry.rank, entry.pid, index)
                matches.append(_known(compiled, event, found, "", entry.text.strip(), entries))
        return matches

    def _has_neighbour(self, compiled: _Compiled, entries: list[Entry]) -> bool:
        """Whether the line that the signature asks for stands anywhere; each pattern is looked for once."""
        pattern = compiled.nearby
        if pattern is None:
            return True
        if pattern not in self._neighbours:
            self._neighbours[pattern] = any(pattern.search(entry.text) for entry in entries)
        return self._neighbours[pattern]


def _order(match: Match, entries: list[Entry]) -> tuple[int, float, int]:
    """First in time, as the lines tell it to the second: a rank's lines may reach the log late. Of what was survived, the last."""
    index = match.event.index
    if match.tier == _SURVIVED:
        return match.tier, 0.0, -index
    time = entries[index].time
    return match.tier, float(int(time)) if time is not None else 0.0, index


def _compile(signature: Signature, user: bool) -> _Compiled:
    def pattern(text: str) -> Pattern[str] | None:
        return re.compile(text, _FLAGS) if text else None

    return _Compiled(
        signature,
        pattern(signature.exception),
        pattern(signature.frames),
        pattern(signature.line),
        pattern(signature.nearby),
        user,
    )


def _text(name: str, message: str, detail: str) -> str:
    head = f"{name}: {message}" if name else message
    return f"{head}\n{detail}" if detail else head


def _fill(text: str, found: re.Match[str]) -> str:
    """Put named groups into a text, free of secrets; anything else in braces stays as it is."""
    for name, value in found.groupdict().items():
        text = text.replace("{" + name + "}", redact((value or "").strip()))
    return text


def _known(
    compiled: _Compiled, event: Event, found: re.Match[str], name: str, message: str, entries: list[Entry]
) -> Match:
    signature = compiled.signature
    if compiled.user:
        tier = _USER
    elif signature.strength == SPECIFIC:
        tier = _KNOWN if event.fatal or event.kind == "line" else _SURVIVED
    else:
        tier = _CONSEQUENCE if signature.strength == SECONDARY else _OPEN
    if event.kind == "traceback" and not event.fatal and not compiled.user:
        tier = _SURVIVED
    return Match(
        event,
        tier,
        signature.id,
        _fill(signature.title, found),
        _fill(signature.cause, found),
        tuple(replace(remedy, value=_fill(remedy.value, found)) for remedy in signature.remedies),
        name or event.type,
        message or event.message,
        _cause_line(event, name, message, entries, found.group(0)),
    )


def _unknown(event: Event, entries: list[Entry]) -> Match:
    secondary = bool(SECONDARY_TEXT.search(event.summary)) or event.kind == "death"
    tier = _CONSEQUENCE if secondary else (_OPEN if event.fatal else _SURVIVED)
    title = event.type.rsplit(".", 1)[-1] or "It died natively"
    where = f" The last place in the code was {event.frames[-1]}." if event.frames else ""
    cause = "No signature knows this failure." + where
    if not event.complete:
        cause = "The process was killed while it printed this traceback; its last lines are lost." + where
    return Match(
        event,
        tier,
        "unknown",
        title,
        cause,
        (),
        event.type,
        event.message,
        _cause_line(event, event.type, event.message, entries, ""),
    )


def _cause_line(event: Event, name: str, message: str, entries: list[Entry], matched: str) -> str:
    """The line of the log that states the cause, word for word: the one that matched, or the exception's first."""
    if event.kind != "traceback":
        return entries[event.index].text.strip()
    stream = entries[event.index].stream
    block = [e.text.strip() for e in entries[event.index : event.last + 1] if e.stream == stream]
    parts = [part.strip() for part in matched.split("\n") if len(part.strip()) > 8]
    # A match on the exception itself also matches the source line that raised it; the exception stands last.
    for wanted in (parts[-1] if parts else "", f"{name}: {message}", f"{name}:", name):
        found = next((line for line in reversed(block) if wanted and wanted in line), "")
        if found:
            return found
    return f"{name}: {message}" if name else message
