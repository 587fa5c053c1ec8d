# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The prefixes that programs, container tools and `journalctl` put before a line.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import calendar
import functools
import re
import time
from typing import NamedTuple, Sequence

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), start=1
    )
}

# SGLang 0.5: `[2026-11-30 19:30:21 TP1] text`, parts such as DP0 PP0 TP3 EP3 only where their size is above one.
_SGLANG = re.compile(
    r"\[(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,6}))?((?: (?:ATTN_|MOE_)?[A-Z]{2}\d+)*)\] ?(.*)",
    re.DOTALL,
)
# torch: `[rank3]: text` and `[rank3]:[E421 04:13:43.42 File.cpp:1] text`
_TORCH_RANK = re.compile(r"\[rank(\d+)\]: ?(.*)", re.DOTALL)
# vLLM: `(Worker_TP1 pid=3534) ERROR 10-11 22:28:17 [core.py:842] text`
_VLLM = re.compile(
    r"\((\w+?)(?:_((?:TP|DP|PP|EP)\d+(?:_(?:TP|DP|PP|EP)\d+)*))?(?: rank=\d+)? pid=(\d{1,10})(?:, ip=[\w.:]+)?\) ?"
    r"(?:(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d (?:\[[^\]]*\] ?)?)?(.*)",
    re.DOTALL,
)
_VLLM_BARE = re.compile(
    r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d (?:\[[\w./-]+:\d+\] ?)(.*)", re.DOTALL
)
# docker compose `name-1  | text`, kubectl --prefix `[pod/x/y] text`
_COMPOSE = re.compile(r"[\w][\w.-]{0,60} +\| (.*)", re.DOTALL)
_KUBECTL = re.compile(r"\[pod/[^\]\s]+\] (.*)", re.DOTALL)
# docker logs -t, CRI: `2026-11-30T19:30:21.123Z stderr F text`
_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d) (?:std(?:out|err) [FP] )?(.*)",
    re.DOTALL,
)
_STAMPS = r"""
    (?P<month>[A-Z][a-z]{2})\ (?P<day>[\ \d]\d)\ (?P<clock>\d\d:\d\d:\d\d(?:\.\d+)?)
  | (?P<iso>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?)
  | [A-Z][a-z]{2}\ (?P<full>\d{4}-\d\d-\d\d\ \d\d:\d\d:\d\d(?:\.\d+)?)\ [A-Z0-9+-]{1,6}
  | (?P<unix>\d{9,11}\.\d{1,6})
  | \[\ *(?P<monotonic>\d{1,12}\.\d{6})\]
"""
_JOURNALCTL = re.compile(
    rf"(?:{_STAMPS})\ (?P<host>[\w.:-]*[\w.-])\ (?P<name>[^\s\[\]]{{1,120}}?)(?:\[(?P<pid>\d{{1,10}})\])?:(?:\ (?P<text>.*))?$",
    re.VERBOSE | re.DOTALL,
)
_PARTS = ("month", "day", "clock", "iso", "full", "unix", "monotonic", "name", "pid", "text")
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)?")


class Prefix(NamedTuple):
    """What stood before `text`. A tuple, because every line has one.

    `stamped` means that a log record begins here, `yearless` that `time` is one of 2000.
    """

    text: str
    time: float | None = None
    pid: int | None = None
    rank: str = ""
    name: str = ""
    stamped: bool = False
    yearless: bool = False


def _epoch(numbers: Sequence[str], fraction: str, zone: str) -> float | None:
    """Seconds since the epoch of year, month, day, hour, minute and second as digits."""
    try:
        seconds = float(calendar.timegm(tuple(map(int, numbers))))
    except (ValueError, OverflowError):
        return None
    if fraction:
        seconds += float("0." + fraction)
    if zone and zone != "Z":
        sign = -1 if zone[0] == "-" else 1
        seconds -= sign * (int(zone[1:3]) * 3600 + int(zone[-2:]) * 60)
    return seconds


@functools.lru_cache(maxsize=100)  # a busy server writes dozens of lines a second
def parse_iso(text: str) -> float | None:
    """Seconds since the epoch of an ISO stamp; without a zone it counts as UTC."""
    found = _ISO.match(text)
    if not found:
        return None
    return _epoch(found.groups()[:6], found.group(7) or "", found.group(8) or "")


def split_journalctl(line: str) -> Prefix | None:
    """Take apart a line of `journalctl` in its short formats (short, -iso, -full, -unix, -monotonic), or None."""
    found = _JOURNALCTL.match(line)
    if not found:
        return None
    month, day, clock, iso, full, seconds, since_boot, name, pid, text = found.group(*_PARTS)
    if iso and iso.endswith("Z") and not pid:
        return (
            None  # a container's stamp is in UTC and says so; what looks like a host and a name is the program's text
        )
    if month:
        if month not in _MONTHS:
            return None
        # Syslog stamps carry no year: see years.py. Only differences within one log are used.
        stamp = parse_iso(f"2000-{_MONTHS[month]:02d}-{int(day):02d} {clock}")
    elif iso or full:
        stamp = parse_iso(iso or full)
    else:
        stamp = float(seconds or since_boot)
    return Prefix(text or "", stamp, int(pid) if pid else None, "", name, False, bool(month))


def split_container(line: str) -> Prefix:
    """Remove what docker, docker compose, kubectl and the container runtimes put before a line."""
    stamp: float | None = None
    for pattern in (_KUBECTL, _COMPOSE):
        found = pattern.match(line)
        if found:
            line = found.group(1)
    found = _RFC3339.match(line)
    if found:
        stamp = _epoch(found.groups()[:6], found.group(7) or "", found.group(8))
        line = found.group(9)
    return Prefix(line, stamp)


def split_program(line: str, with_time: bool = True) -> Prefix:
    """Take apart the prefix of SGLang, torch or vLLM; a line without one comes back whole and not `stamped`.

    Where the journal knows the time better, `with_time` saves reading the program's own.
    """
    first = line[:1]
    if first == "[":
        found = _SGLANG.match(line)
        if found:
            stamp = _epoch(found.groups()[:6], found.group(7) or "", "") if with_time else None
            return Prefix(found.group(9), stamp, None, found.group(8).strip(), "", True)
        found = _TORCH_RANK.match(line)
        if found:
            return Prefix(found.group(2), None, None, "TP" + found.group(1))
    elif first == "(":
        found = _VLLM.match(line)
        if found:
            rank = (found.group(2) or "").replace("_", " ")
            return Prefix(found.group(4), None, int(found.group(3)), rank)
    elif first in "DIWEC":
        found = _VLLM_BARE.match(line)
        if found:
            return Prefix(found.group(1))
    return Prefix(line)


def printable_time(stamp: float | None) -> str:
    """A stamp as people read it, `2026-11-30 19:41:03.873`, or an empty string."""
    if stamp is None:
        return ""
    whole = int(stamp)
    try:
        day = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(whole))
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{day}.{int((stamp - whole) * 1000):03d}"
