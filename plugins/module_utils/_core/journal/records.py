# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of `journalctl -o json` and `-o export`, as they really come, into entries.

A message can be a string, an array of bytes (as soon as it holds an escape or bad UTF-8), null (too large for a call
without `--all`), missing, or an array of such values where the field was given twice. A line longer than 48 KiB, or one
with a NUL in it, arrives as several records marked `_LINE_BREAK`.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Iterable, Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import (
    JOURNALD,
    KERNEL,
    SYSTEMD,
    UNIT,
    Entry,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.prefix import Prefix, split_program
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.text import LONGEST, clean_lines

Record = Dict[str, Any]
_CONTINUES = ("line-max", "nul")  # `eof` and `pid-change` end a line for good


def field(value: Any) -> str | None:
    """The text of one field; None where journald gave null."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, list):
        if value and all(isinstance(item, int) and 0 <= item < 256 for item in value):
            return bytes(value).decode("utf-8", "replace")
        texts = [field(item) for item in value if not isinstance(item, (int, float))]
        return "\n".join(text for text in texts if text is not None) if texts else ""
    return str(value)


def parse_json_line(line: str) -> Record | None:
    """One record of `journalctl -o json`, or None where the line is none (a torn last line, a notice)."""
    if not line.startswith("{"):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def parse_export(data: bytes) -> Iterator[Record]:
    """The records of `journalctl -o export`: `KEY=value` lines, or `KEY`, a 64-bit length, and raw bytes."""
    record: Record = {}
    position, end = 0, len(data)
    while position < end:
        line_end = data.find(b"\n", position)
        line_end = end if line_end < 0 else line_end
        line = data[position:line_end]
        position = line_end + 1
        if not line:
            if record:
                yield record
            record = {}
        elif b"=" in line:
            key, _equals, value = line.partition(b"=")
            _put(record, key, value)
        else:
            length = int.from_bytes(data[position : position + 8], "little")
            _put(record, line, data[position + 8 : position + 8 + length])
            position += 8 + length + 1
    if record:
        yield record


def _put(record: Record, key: bytes, value: bytes) -> None:
    name, text = key.decode("utf-8", "replace"), value.decode("utf-8", "replace")
    record[name] = record[name] + "\n" + text if name in record else text


def _number(value: Any) -> int | None:
    try:
        return int(field(value) or "")
    except ValueError:
        return None


class JournalReader:
    """Turns records into entries; keeps the open end of a split line, and each process's rank, between calls."""

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._ranks: dict[int | None, str] = {}

    def feed(self, lines: Iterable[str]) -> list[Entry]:
        """Entries of `journalctl -o json` lines."""
        records = (parse_json_line(line) for line in lines)
        return self.feed_records(record for record in records if record is not None)

    def feed_records(self, records: Iterable[Record]) -> list[Entry]:
        """Entries of parsed records, in their order."""
        entries: list[Entry] = []
        for record in records:
            entries.extend(self._entries(record))
        return entries

    def _entries(self, record: Record) -> list[Entry]:
        message = field(record.get("MESSAGE"))
        cut = message is None and "MESSAGE" in record
        stream = field(record.get("_STREAM_ID")) or ""
        text = message or ""
        if stream and field(record.get("_LINE_BREAK")) in _CONTINUES:
            parts = self._open.setdefault(stream, [])
            if sum(map(len, parts)) <= LONGEST:
                parts.append(text)
            return []
        if stream in self._open:
            text = "".join(self._open.pop(stream)) + text
        pid = _number(record.get("_PID"))
        source = _source(record)
        stamp = _number(record.get("__REALTIME_TIMESTAMP")) or _number(record.get("_SOURCE_REALTIME_TIMESTAMP"))
        cursor = field(record.get("__CURSOR")) or ""
        found = []
        for line in clean_lines(text) if text else [""]:
            prefix = split_program(line, with_time=stamp is None) if source == UNIT else None
            rank = self._rank(pid, prefix) if prefix else ""
            found.append(
                Entry(
                    text=prefix.text if prefix else line,
                    time=stamp / 1e6 if stamp is not None else None,
                    pid=prefix.pid if prefix and prefix.pid is not None else pid,
                    rank=rank,
                    source=source,
                    stamped=bool(prefix and prefix.stamped),
                    cut=cut,
                    cursor=cursor,
                )
            )
        return found

    def _rank(self, pid: int | None, prefix: Prefix) -> str:
        """A process keeps its rank: its unprefixed lines (a traceback's) belong to it too.

        Where the journal names no process (fields were left out), a line continues the record before it.
        """
        if prefix.rank or (pid is None and prefix.stamped):
            self._ranks[pid] = prefix.rank
        return self._ranks.get(pid, "")


def _source(record: Record) -> str:
    if field(record.get("_TRANSPORT")) == "kernel":
        return KERNEL
    name = field(record.get("SYSLOG_IDENTIFIER")) or field(record.get("_COMM")) or ""
    if name.startswith("systemd-journal"):
        return JOURNALD
    if name == "systemd" and field(record.get("_PID")) == "1":
        return SYSTEMD
    return UNIT
