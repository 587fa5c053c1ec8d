# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Saved logs of any kind into entries.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import io
import itertools
import re
from collections import deque
from typing import BinaryIO, Iterable, Iterator

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
    parse_json,
    parse_json_line,
    remember,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.sieve import sieve
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.text import clean_lines
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.years import Years

_BLOB = re.compile(r"\[[\d.]{1,12}[KMG]?B? blob data\]")
_MARKS = re.compile(r"-- (?:Boot|Reboot|Logs begin|Journal begins|No entries|cursor:)")
_EXPORT = re.compile(rb"(?:__CURSOR|__REALTIME_TIMESTAMP|_BOOT_ID|__SEQNUM)=")
_LONGEST_LINE = 1 << 23  # bytes of one line that are read: far more than one that journald splits needs as JSON
_MOST_BLANKS = 100


def read_log(data: bytes) -> list[Entry]:
    """Entries of a saved log that is in memory, see `read_stream`."""
    return list(read_stream(io.BytesIO(data)))


def read_stream(handle: BinaryIO, everything: bool = False) -> Iterator[Entry]:
    """Entries of a saved log: `journalctl -o json`, `-o export`, any short format, or the program's own output.

    Reads as it goes, so the log may be longer than the memory. Routine lines are passed over (see `sieve`) unless
    `everything` is wanted, because somebody's own pattern may stand in any line.
    """
    source = read_lines(handle)
    blanks, first = _begin(source)
    if _EXPORT.match(first):
        return JournalReader().read(parse_export(handle, first))
    lines: Iterable[bytes] = itertools.chain(blanks, [first], source)
    if not everything:
        lines = sieve(lines)
    record = parse_json_line(first.decode("utf-8", "replace"))
    if record is not None and ("MESSAGE" in record or "__REALTIME_TIMESTAMP" in record):
        return JournalReader().read(parse_json(lines))
    texts = (line.decode("utf-8", "replace").rstrip("\n") for line in lines)
    return read_plain(map(_of_docker, texts) if record is not None and "log" in record and "time" in record else texts)


def _of_docker(line: str) -> str:
    """A line of the files that docker's json-file driver writes, as `docker logs --timestamps` prints it."""
    record = parse_json_line(line) or {}
    return f"{field(record.get('time')) or ''} {(field(record.get('log')) or '').rstrip()}" if record else line


def read_lines(handle: BinaryIO) -> Iterator[bytes]:
    """The lines of a file, each only so far as memory allows."""
    while True:
        line = handle.readline(_LONGEST_LINE)
        if not line:
            return
        yield line
        while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            line = handle.readline(_LONGEST_LINE)


def _begin(lines: Iterable[bytes]) -> tuple[list[bytes], bytes]:
    """Blank lines at the beginning, and the first line that is none: it tells the format."""
    blanks: deque[bytes] = deque(maxlen=_MOST_BLANKS)
    for line in lines:
        if line.strip():
            return list(blanks), line
        blanks.append(line)
    return list(blanks), b""


def read_plain(lines: Iterable[str]) -> Iterator[Entry]:
    """Entries of plain lines. A line without a prefix continues what stood before it; blank lines at the end are left out."""
    reader = _PlainReader()
    blanks: deque[Entry] = deque(maxlen=_MOST_BLANKS)
    for raw in lines:
        torn = ""
        for line in clean_lines(raw):
            entry = reader.entry(line)
            if entry is None:
                continue
            torn = entry.rank if entry.text.endswith("Traceback (most recent call last):") else torn
            if not entry.text:
                blanks.append(entry)
                continue
            yield from blanks
            blanks.clear()
            yield entry
        # Another writer ended the line in which a traceback began: what follows without a prefix is the traceback's.
        reader.rank = torn or reader.rank


class _PlainReader:
    """Remembers which prefix, time and rank hold for a line that has none."""

    def __init__(self) -> None:
        self._ranks: dict[int, str] = {}
        self._outer = Prefix("")
        self._stamp: float | None = None
        self._years = Years()
        self.rank = ""

    def entry(self, line: str) -> Entry | None:
        """The entry of one line, or None for a mark of journalctl's own."""
        journal = split_journalctl(line)
        if journal is not None:
            if journal.yearless and journal.time is not None:
                journal = journal._replace(time=self._years.placed(journal.time))
            self._outer = journal
            line = journal.text
        elif _MARKS.match(line):
            return None
        else:
            container = split_container(line)
            line = container.text
            if container.time is not None:
                self._outer = Prefix("", container.time)
        outer = self._outer
        source = _source(outer.name)
        own = split_program(line, with_time=outer.time is None) if source == UNIT else Prefix(line)
        pid = own.pid if own.pid is not None else outer.pid
        if own.stamped or own.rank:
            self.rank = own.rank
        if pid is not None:
            if own.rank:
                remember(self._ranks, pid, own.rank)
            self.rank = self._ranks.get(pid, "")
        self._stamp = outer.time if outer.time is not None else (own.time if own.time is not None else self._stamp)
        return Entry(
            text=own.text,
            time=self._stamp,
            pid=pid,
            rank=self.rank if source == UNIT else "",
            source=source,
            stamped=own.stamped,
            cut=bool(_BLOB.fullmatch(own.text)),
        )


def _source(name: str) -> str:
    if name == "systemd":
        return SYSTEMD
    if name == "kernel":
        return KERNEL
    return JOURNALD if name.startswith("systemd-journal") else UNIT
