# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A log as a diagnosis needs it: whole where it is short, and where it is long, what can matter of it.

Also what other packages of the core may use of a log: serving stands on diagnosis, and diagnosis on the journal.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from typing import Deque, Iterable, Iterator, List, Pattern, Sequence, Tuple

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import Signature
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.noise import (
    TERMINAL,
    harmless,
    is_sign_of_life,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.phases import Timeline
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.signatures import BUILTIN
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import (
    JOURNALD,
    KERNEL,
    SYSTEMD,
    UNIT,
    Entry,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.records import (
    FIELDS,
    JournalReader,
    Record,
    parse_json,
    parse_json_line,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.saved import (
    read_lines,
    read_log,
    read_stream,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.sieve import sieve
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.words import interesting

__all__ = [
    "FIELDS",
    "JOURNALD",
    "KERNEL",
    "SYSTEMD",
    "UNIT",
    "Entry",
    "JournalReader",
    "Log",
    "Record",
    "parse_json",
    "parse_json_line",
    "read_lines",
    "read_log",
    "read_stream",
    "sieve",
]

# Characters, with what Python needs to hold a line. A start that ends in 2,800 lines of usage is half of this.
_PART = 3_000_000
_OVERHEAD = 300
_BEFORE, _AFTER = 60, 400  # lines around one that matters: the tracebacks of several ranks interleave
_AFTERMATH = 20_000  # lines after a terminal one: the parent's obituary can stand before the failing rank's traceback
_MOST_WRITERS = 1000

_Numbered = Tuple[int, Entry]


class Log:
    """The lines of one invocation in their order, in a bounded space.

    Kept are the beginning and the end, and in between the lines that can matter, with their neighbours (the first and the
    last of them, should there be too many), the last sign of life of each writer, the beginning of each phase, and one line
    for each pattern that may match anywhere. A log of a few thousand lines is kept whole. `part` limits each
    of the four parts, in characters.
    """

    def __init__(self, signatures: Sequence[Signature] = (), part: int = _PART) -> None:
        self._count = 0
        self._head, self._recent = _Beginning(part), _End(part)
        self._first, self._last = _Beginning(part), _End(part)
        self._alive: dict[str, _Numbered] = {}
        self._essential: set[int] = set()  # numbers of lines that begin a phase, or that a pattern wanted
        self._witnesses: list[_Numbered] = []
        self._wanted = _anywhere(signatures)
        self._spans: deque[list[int]] = deque()  # what to keep of the lines that are still in `recent`
        self._timeline = Timeline()

    @property
    def entries(self) -> list[Entry]:
        """What is kept, in the order of the log."""
        parts = (self._head, self._first, self._last, self._recent, self._alive.values(), self._witnesses)
        return [entry for _number, entry in sorted(itertools.chain(*parts), key=lambda numbered: numbered[0])]

    def extend(self, entries: Iterable[Entry]) -> None:
        """Take the next lines."""
        for entry in entries:
            self._count += 1
            line = (self._count, entry)
            self._mark(line)
            if not self._head.took(line):
                for old in self._recent.push(line):
                    self._leave(old)

    def _mark(self, line: _Numbered) -> None:
        """Decide which lines around this one are kept."""
        number, entry = line
        if entry.text.startswith("server_args="):
            self._timeline = Timeline()  # a saved log may hold several lives
        phases = len(self._timeline.reached)
        moved = self._timeline.feed((entry,))
        if len(self._timeline.reached) > phases:
            self._essential.add(number)
        if interesting(entry.text):
            if harmless(entry.text) and "Traceback" not in entry.text:
                self._keep(number, number)
            else:
                self._keep(number - _BEFORE, number + (_AFTERMATH if TERMINAL.search(entry.text) else _AFTER))
        elif moved or entry.source != UNIT:
            self._keep(number, number)
        for pattern in self._wanted:
            if pattern.search(entry.text):
                self._wanted = [other for other in self._wanted if other is not pattern]
                self._essential.add(number)

    def _keep(self, begin: int, end: int) -> None:
        if self._spans and begin <= self._spans[-1][1] + 1:
            self._spans[-1][0] = min(begin, self._spans[-1][0])
            self._spans[-1][1] = max(end, self._spans[-1][1])
        else:
            self._spans.append([begin, end])

    def _leave(self, line: _Numbered) -> None:
        """A line becomes older than the end of the log."""
        number = line[0]
        while self._spans and self._spans[0][1] < number:
            self._spans.popleft()
        if number in self._essential:
            self._witnesses.append(line)
        elif not self._spans or number < self._spans[0][0]:
            self._remember_writer(line)
        elif not self._first.took(line):
            for old in self._last.push(line):
                self._remember_writer(old)

    def _remember_writer(self, line: _Numbered) -> None:
        """All that counts of a line that is not kept: its writer was alive."""
        entry = line[1]
        if is_sign_of_life(entry):
            self._alive[entry.stream] = line
            if len(self._alive) > _MOST_WRITERS:
                del self._alive[next(iter(self._alive))]


class _Beginning(List[_Numbered]):
    """Lines until a size is reached."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._room = size

    def took(self, line: _Numbered) -> bool:
        """True where there was room."""
        if self._room <= 0:
            return False
        self._room -= len(line[1].text) + _OVERHEAD
        self.append(line)
        return True


class _End(Deque[_Numbered]):
    """The latest lines of a size."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._room = size

    def push(self, line: _Numbered) -> Iterator[_Numbered]:
        """Take a line; those that no longer fit come out."""
        self.append(line)
        self._room -= len(line[1].text) + _OVERHEAD
        while self._room < 0:
            old = self.popleft()
            self._room += len(old[1].text) + _OVERHEAD
            yield old


def _anywhere(signatures: Sequence[Signature]) -> list[Pattern[str]]:
    """The patterns that may match any line: the neighbours that signatures ask for, and the user's lines."""
    texts = [one.nearby for one in (*signatures, *BUILTIN)] + [one.line for one in signatures]
    return [re.compile(text, re.IGNORECASE | re.MULTILINE) for text in dict.fromkeys(texts) if text]
