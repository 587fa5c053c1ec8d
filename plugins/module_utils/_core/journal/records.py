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
from typing import Any, BinaryIO, Dict, Iterable, Iterator

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
# All that is read of a record. Asking journalctl for these alone makes its output a third as long.
FIELDS = (
    "MESSAGE",
    "_PID",
    "_COMM",
    "SYSLOG_IDENTIFIER",
    "_TRANSPORT",
    "_STREAM_ID",
    "_LINE_BREAK",
    "_SOURCE_REALTIME_TIMESTAMP",
)
_READ = frozenset(name.encode() for name in (*FIELDS, "__REALTIME_TIMESTAMP"))
_CONTINUES = ("line-max", "nul")  # `eof` and `pid-change` end a line for good
_MOST = 4096  # writers and open lines that are remembered, the latest ones
_LONGEST_FIELD = 1 << 23  # bytes of one field of the export format; whatever is longer is passed over


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


def parse_json(lines: Iterable[bytes]) -> Iterator[Record]:
    """The records of the lines of `journalctl -o json`."""
    for line in lines:
        record = parse_json_line(line.decode("utf-8", "replace"))
        if record is not None:
            yield record


def parse_export(handle: BinaryIO, first: bytes = b"") -> Iterator[Record]:
    """The records of `journalctl -o export`: `KEY=value` lines, or `KEY`, a 64-bit length, and raw bytes.

    `first` is the first line, where it was read already.
    """
    record: Record = {}
    while True:
        line, first = first or handle.readline(_LONGEST_FIELD), b""
        if not line or line == b"\n":
            if record:
                yield record
            if not line:
                return
            record = {}
            continue
        key, equals, value = line.rstrip(b"\n").partition(b"=")
        if not equals:
            length = int.from_bytes(handle.read(8), "little")
            value = handle.read(min(length, _LONGEST_FIELD))
            _pass_over(handle, length - len(value) + 1)
        if key in _READ:
            name, text = key.decode(), value.decode("utf-8", "replace")
            record[name] = record[name] + "\n" + text if name in record else text


def _pass_over(handle: BinaryIO, count: int) -> None:
    while count > 0:
        passed = len(handle.read(min(count, 1 << 16)))
        count = count - passed if passed else 0


def _number(value: Any) -> int | None:
    """A field's value as a number, if it is one that a journal can hold."""
    text = field(value) or ""
    return int(text) if text.isdigit() and text.isascii() and len(text) < 19 else None


def remember(store: dict[Any, Any], key: Any, value: Any) -> None:
    """Put into a store that forgets its oldest key when it is full: a damaged journal can name any number of writers."""
    store[key] = value
    if len(store) > _MOST:
        del store[next(iter(store))]


class JournalReader:
    """Turns records into entries; keeps the open end of a split line, and each process's rank, between calls."""

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._ranks: dict[int | None, str] = {}

    def feed(self, lines: Iterable[str]) -> list[Entry]:
        """Entries of `journalctl -o json` lines."""
        records = (parse_json_line(line) for line in lines)
        return list(self.read(record for record in records if record is not None))

    def read(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Entries of parsed records, in their order."""
        for record in records:
            text, cut = self._message(record)
            if text is not None:
                yield from self._entries(record, text, cut)

    def _message(self, record: Record) -> tuple[str | None, bool]:
        """The whole message and whether text is missing; None while a split line goes on."""
        message = field(record.get("MESSAGE"))
        cut = message is None and "MESSAGE" in record
        text = message or ""
        stream = field(record.get("_STREAM_ID")) or ""
        if stream and field(record.get("_LINE_BREAK")) in _CONTINUES:
            parts = self._open.get(stream)
            if parts is None:
                parts = []
                remember(self._open, stream, parts)
            if sum(map(len, parts)) <= LONGEST:
                parts.append(text)
            return None, cut
        if stream in self._open:
            text = "".join(self._open.pop(stream)) + text
        return text, cut

    def _entries(self, record: Record, text: str, cut: bool) -> Iterator[Entry]:
        pid = _number(record.get("_PID"))
        source = _source(record)
        stamp = _number(record.get("__REALTIME_TIMESTAMP")) or _number(record.get("_SOURCE_REALTIME_TIMESTAMP"))
        time = stamp / 1e6 if stamp is not None else None
        for line in clean_lines(text) if text else ("",):
            if source != UNIT:
                yield Entry(line, time, pid, "", source, False, cut)
                continue
            prefix = split_program(line, with_time=stamp is None)
            rank = self._rank(pid, prefix)
            own_pid = prefix.pid if prefix.pid is not None else pid
            yield Entry(prefix.text, time, own_pid, rank, UNIT, prefix.stamped, cut)

    def _rank(self, pid: int | None, prefix: Prefix) -> str:
        """A process keeps its rank: its unprefixed lines (a traceback's) belong to it too.

        Where the journal names no process (fields were left out), a line continues the record before it.
        """
        if prefix.rank or (pid is None and prefix.stamped):
            remember(self._ranks, pid, prefix.rank)
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
