# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one question: what was it, on which rank, and what to change.

Rules, in this order: a stop is not a failure; the user's signatures win; then the first specific match in time over all
ranks; then the first exception that nobody knows (or a weak match) in time; consequences come last and only when the log
holds nothing else.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from typing import Any, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis import evidence
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.context import with_context
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.events import find_events
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.exits import UnitExit, read_exit
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.matching import Match, Matcher
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import Event, Signature
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model_imports import with_ignored_import
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.noise import (
    EARLY_WARNINGS,
    FATAL_HEADER,
    SECONDARY,
    STOP,
    TERMINAL,
    harmless,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.phases import TITLES, Timeline
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.signatures import BUILTIN
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import JOURNALD, SYSTEMD, UNIT, Entry
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.words import interesting

_RESTARTS = re.compile(r"Main process exited, code=(?!exited, status=0)|Failed with result|Start request repeated")
_STARTS = (("server_args=",), ("Starting ", "Started "))  # in the program's words, and in systemd's
_OF_A_STOP = re.compile(r"KeyboardInterrupt|SystemExit|CancelledError|Connection|ZMQError|NCCL|TCPStore|Socket")
_ENDED = re.compile(r"Main process exited, code=|Failed with result")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SUPPRESSED = re.compile(r"Suppressed \d+ messages")


def diagnose(
    entries: list[Entry],
    unit_exit: UnitExit | None = None,
    signatures: Sequence[Signature] = (),
    ending_is_failure: bool = False,
) -> dict[str, Any]:
    """Diagnose one invocation's log. `unit_exit` is what systemd knows beyond it; `signatures` are the user's.

    The result's shape is documented in the module `unit_failure_info`. With `ending_is_failure` an end with status 0
    counts as a failure too: a server that should be starting has no reason to end.
    """
    notable = [index for index, entry in enumerate(entries) if interesting(entry.text)]
    begin = _last_life(entries, notable)
    if begin:
        entries, notable = entries[begin:], [index - begin for index in notable if index >= begin]
    timeline = Timeline()
    timeline.feed(entries)
    ended = read_exit(entries, unit_exit)
    stop = next((index for index in notable if is_stop(entries[index])), len(entries))
    terminal = next((index for index in notable if is_terminal(entries[index])), len(entries))
    events = [event for event in find_events(entries, notable) if event.index < stop or _is_crash_in_stop(event)]
    failed = _has_failed(ended, events, stop, terminal, len(entries), ending_is_failure)
    matches = Matcher(tuple(signatures), BUILTIN).match(events, entries, notable, stop) if failed else []
    chosen = with_context(with_ignored_import(matches[0], entries), events, entries) if matches else None
    return _result(entries, [entries[index] for index in notable], timeline, ended, failed, chosen, matches)


def _last_life(entries: list[Entry], notable: list[int]) -> int:
    """Where the start that counts begins. A saved log may hold several: what was stopped in order is over."""
    begin, ended = 0, -1
    for index in notable:
        if is_terminal(entries[index]) and ended < begin:
            break  # it died, whatever was started later
        if is_stop(entries[index]):
            ended = index
    for index in range(ended + 1, len(entries)) if ended >= 0 else ():
        entry = entries[index]
        if entry.text.startswith(_STARTS[entry.source == SYSTEMD]):
            return index
    return begin


def _is_crash_in_stop(event: Event) -> bool:
    """True for an exception that has nothing to do with the stop in which it happened; lost peers have."""
    return (
        event.kind == "traceback"
        and bool(FATAL_HEADER.search(event.header))
        and bool(event.type)
        and not _OF_A_STOP.search(event.summary)
        and not SECONDARY.search(event.summary)
    )


def is_stop(entry: Entry) -> bool:
    """True for a line that tells of an orderly stop, by request or by systemd."""
    return entry.source in (UNIT, SYSTEMD) and bool(STOP.search(entry.text))


def is_terminal(entry: Entry) -> bool:
    """True for a line after which the service cannot become ready any more."""
    return (entry.source == UNIT and bool(TERMINAL.search(entry.text)) and not harmless(entry.text)) or (
        entry.source == SYSTEMD and bool(_RESTARTS.search(entry.text))
    )


def _has_failed(
    ended: dict[str, Any] | None, events: list[Event], stop: int, terminal: int, count: int, strict: bool
) -> bool:
    if terminal < stop:
        return True
    if stop < count:
        return any(event.index > stop for event in events)
    if ended is not None and ended["result"] not in ("", "success"):
        return True
    if ended is not None and (ended["code"] or ended["signal"]):
        return ended["signal"] != "SIGTERM" or strict
    if ended is not None and strict:
        return True
    return any(event.fatal for event in events)


def _result(
    entries: list[Entry],
    notable: list[Entry],
    timeline: Timeline,
    ended: dict[str, Any] | None,
    failed: bool,
    chosen: Match | None,
    matches: list[Match],
) -> dict[str, Any]:
    event = chosen.event if chosen else None
    same = [m.event for m in matches if event and _alike(m.event, event) and m.event.fatal] if event else []
    ranks, pids = _who(event, same, entries)
    phase = timeline.at(event.index) if event else timeline.phase
    return {
        "failed": failed,
        "signature": (chosen.id if chosen else "unknown") if failed else "",
        "title": (chosen.title if chosen else "It died without saying why") if failed else "",
        "cause": (chosen.cause if chosen else "Nothing in the log tells why.") if failed else "",
        "remedies": [remedy.as_dict() for remedy in chosen.remedies] if chosen and failed else [],
        "exception": {"type": chosen.type, "message": evidence.redact(evidence.shorten(chosen.message, 600))}
        if chosen
        else {},
        "cause_line": evidence.redact(
            evidence.shorten(chosen.cause_line if chosen else _last_words(notable, failed), 600)
        ),
        "phase": phase,
        "phase_title": TITLES[phase],
        "ranks": ranks,
        "pids": pids,
        "frames": list(event.frames[-8:]) if event else [],
        "evidence": evidence.collect(entries, event, failed),
        "exit": ended or {},
        "early_warnings": _early_warnings(notable),
        "secondary": _secondary(notable) if failed else [],
        "complete": _complete(notable, event),
    }


def _last_words(notable: list[Entry], failed: bool) -> str:
    """Where nothing else is known: how systemd saw the end."""
    ends = (entry.text for entry in notable if entry.source == SYSTEMD and _ENDED.search(entry.text))
    return next(ends, "") if failed else ""


def _alike(one: Event, other: Event) -> bool:
    """The same failure on another rank: its message may name another GPU and other amounts."""
    return _NUMBER.sub("#", one.summary) == _NUMBER.sub("#", other.summary)


def _who(event: Event | None, same: list[Event], entries: list[Entry]) -> tuple[list[str], list[int]]:
    """Ranks and processes concerned, the first to fail in front. A server of one rank prints no rank: it is TP0."""
    if event is None:
        return [], []
    ranks: list[str] = []
    pids: list[int] = []
    for one in [event, *same]:
        rank = one.rank or ("TP0" if _in_scheduler(one, entries) else "")
        if rank and rank not in ranks:
            ranks.append(rank)
        if one.pid is not None and one.pid not in pids:
            pids.append(one.pid)
    return ranks, pids


def _in_scheduler(event: Event, entries: list[Entry]) -> bool:
    around = entries[max(0, event.index - 3) : event.index + 80]
    return "Scheduler hit an exception" in event.header or (
        event.kind in ("compiler", "native") and any("Scheduler hit an exception" in entry.text for entry in around)
    )


def _early_warnings(entries: list[Entry]) -> list[dict[str, str]]:
    """What was harmless by itself and is worth a look now, each once."""
    found: dict[str, dict[str, str]] = {}
    for entry in entries:
        for pattern, meaning in EARLY_WARNINGS:
            if meaning not in found and pattern.search(entry.text):
                found[meaning] = {"line": evidence.redact(evidence.shorten(entry.text, 300)), "meaning": meaning}
    return list(found.values())[:10]


def _secondary(entries: list[Entry]) -> list[str]:
    """The consequences that were set aside, each text once."""
    texts = [evidence.redact(evidence.shorten(entry.text, 160)) for entry in entries if SECONDARY.search(entry.text)]
    return list(dict.fromkeys(texts))[:10]


def _complete(entries: list[Entry], event: Event | None) -> bool:
    """False where the journal dropped lines, or the cause itself was cut off."""
    if event is not None and not event.complete:
        return False
    return not any(entry.source == JOURNALD and _SUPPRESSED.search(entry.text) for entry in entries)
