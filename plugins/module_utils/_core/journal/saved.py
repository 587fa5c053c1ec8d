# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Saved logs of any kind into entries.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from typing import Iterable

from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import (
    JOURNALD,
    KERNEL,
    SYSTEMD,
    UNIT,
    Entry,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.prefix import (
    Prefix,
    split_container,
    split_journalctl,
    split_program,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.records import (
    JournalReader,
    field,
    parse_export,
    parse_json_line,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.text import clean_lines

_BLOB = re.compile(r"\[[\d.]+[KMG]?B? blob data\]")
_MARKS = re.compile(r"-- (?:Boot|Reboot|Logs begin|Journal begins|No entries|cursor:)")
_EXPORT = re.compile(rb"\A(?:__CURSOR|__REALTIME_TIMESTAMP|_BOOT_ID|__SEQNUM)=")


def read_log(data: bytes) -> list[Entry]:
    """Entries of a saved log: `journalctl -o json`, `-o export`, any short format, or the program's own output."""
    if _EXPORT.match(data[:200]):
        return JournalReader().feed_records(parse_export(data))
    text = data.decode("utf-8", "replace")
    lines = text.split("\n")
    first = next((line for line in lines if line.strip()), "")
    record = parse_json_line(first)
    if record is not None and ("MESSAGE" in record or "__REALTIME_TIMESTAMP" in record):
        return JournalReader().feed(lines)
    if record is not None and "log" in record and "time" in record:
        return read_plain(map(_of_docker, lines))
    return read_plain(lines)


def _of_docker(line: str) -> str:
    """A line of the files that docker's json-file driver writes, as `docker logs --timestamps` prints it."""
    record = parse_json_line(line) or {}
    return f"{field(record.get('time')) or ''} {(field(record.get('log')) or '').rstrip()}" if record else line


def read_plain(lines: Iterable[str]) -> list[Entry]:
    """Entries of plain lines. A line without a prefix continues what stood before it."""
    entries: list[Entry] = []
    ranks: dict[int, str] = {}
    outer = Prefix("")
    stamp: float | None = None
    rank = ""
    for raw in lines:
        torn = ""
        for line in clean_lines(raw):
            journal = split_journalctl(line)
            if journal is not None:
                outer = journal
                line = journal.text
            elif _MARKS.match(line):
                continue
            else:
                container = split_container(line)
                line = container.text
                if container.time is not None:
                    outer = Prefix("", container.time)
            source = _source(outer.name)
            own = split_program(line) if source == UNIT else Prefix(line)
            pid = own.pid if own.pid is not None else outer.pid
            if own.stamped or own.rank:
                rank = own.rank
            if pid is not None:
                if own.rank:
                    ranks[pid] = own.rank
                rank = ranks.get(pid, "")
            stamp = outer.time if outer.time is not None else (own.time if own.time is not None else stamp)
            entries.append(
                Entry(
                    text=own.text,
                    time=stamp,
                    pid=pid,
                    rank=rank if source == UNIT else "",
                    source=source,
                    stamped=own.stamped,
                    cut=bool(_BLOB.fullmatch(own.text)),
                )
            )
            torn = rank if own.text.endswith("Traceback (most recent call last):") else torn
        # Another writer ended the line in which a traceback began: what follows without a prefix is the traceback's.
        rank = torn or rank
    while entries and not entries[-1].text:
        entries.pop()
    return entries


def _source(name: str) -> str:
    if name == "systemd":
        return SYSTEMD
    if name == "kernel":
        return KERNEL
    return JOURNALD if name.startswith("systemd-journal") else UNIT
