# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python's tracebacks, whole or torn, chained, interleaved by several processes, with or without their indentation.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import UNIT, Entry

_HEAD = "Traceback (most recent call last)"
_CHAIN = re.compile(
    r"The above exception was the direct cause of the following|During handling of the above exception, another"
)
# A frame, also where the log cut it off: File "x.py", line 3, in f
_FRAME = re.compile(r'\s*File "([^"\n]+)"?(?:, line (\d+)(?:, in (.*))?)?\s*$')
_TYPE = re.compile(r"([A-Za-z_][\w.]*)(?::(?: (.*)|$)|$)", re.DOTALL)
_TYPICAL = re.compile(
    r"(?:Error|Exception|Interrupt|Exit|Iteration|Timeout|Failure|OutOfResources|Empty|Cancelled|Unavailable)$"
)
_GROUP = re.compile(r"^\s*(?:\+-\+?-+(?: ?\d+ -+)?|[|+] ?)")
_FOREIGN = re.compile(r"^(?:exit \d+|\S+\.py:\d+: \w*Warning:|\s+warnings\.warn\()")
LONGEST_DETAIL = 120  # lines below an exception that are kept: a build log can have thousands


@dataclass
class Link:
    """One exception of a chain: where it passed, what it is, and the lines that followed its first."""

    frames: list[str] = field(default_factory=list)
    type: str = ""
    message: str = ""
    detail: list[str] = field(default_factory=list)


@dataclass
class Traceback:
    """A chain of exceptions. `index` and `last` are the first and last entry; `header` is the line it belongs to."""

    index: int
    header: str
    rank: str
    pid: int | None
    stream: str
    links: list[Link] = field(default_factory=lambda: [Link()])
    last: int = 0
    indented: bool = False

    @property
    def complete(self) -> bool:
        """False where the process was killed while it printed."""
        return bool(self.links[-1].type)

    @property
    def raised(self) -> list[Link]:
        """The links whose exception was printed, the root first; a group only says that it holds others."""
        raised = [link for link in self.links if link.type]
        return sorted(raised, key=lambda link: link.type.endswith("ExceptionGroup"))


def exception_line(text: str, strict: bool) -> tuple[str, str] | None:
    """Type and message of a line such as `ValueError: no`, or None.

    `strict` asks for a name that is typical of exceptions; without it any capitalised name at the line's start counts,
    which is right only below frames that kept their indentation.
    """
    found = _TYPE.match(text)
    if not found:
        return None
    name = found.group(1)
    last = name.rsplit(".", 1)[-1]
    if not last[:1].isupper() and not _TYPICAL.search(last):
        return None
    if strict and not _TYPICAL.search(last):
        return None
    return name, (found.group(2) or "").strip()


def find_tracebacks(entries: list[Entry]) -> list[Traceback]:
    """All tracebacks, in the order of their first lines."""
    finder = _Finder()
    for index, entry in enumerate(entries):
        if entry.source == UNIT:
            finder.take(index, entry)
    return sorted(finder.found, key=lambda traceback: traceback.index)


class _Finder:
    """One open traceback a stream, fed line by line."""

    def __init__(self) -> None:
        self.found: list[Traceback] = []
        self._open: dict[str, Traceback] = {}
        self._previous: dict[str, str] = {}
        self._chained: set[str] = set()

    def take(self, index: int, entry: Entry) -> None:
        stream, text = entry.stream, entry.text
        current = self._open.get(stream)
        if current is not None and entry.stamped:
            self._close(stream)
            current = None
        head = text.find(_HEAD)
        if head >= 0:
            self._begin(index, entry, text[:head], current)
        elif current is not None:
            if not self._continue(index, current, text):
                self._close(stream)
        elif text.lstrip().startswith('File "') and _FRAME.match(text):
            self._begin(index, entry, "", None)  # the log lost the first line, not the frames
            self._continue(index, self._open[stream], text)
        if text.strip():
            self._previous[stream] = text

    def _begin(self, index: int, entry: Entry, before: str, current: Traceback | None) -> None:
        stream = entry.stream
        member = before.lstrip()[:1] == "|"
        before = _GROUP.sub("", before).replace("Exception Group", "").strip(" |+")
        if current is not None and not before and (member or stream in self._chained or not current.complete):
            current.links.append(Link())
            current.last = index
            self._chained.discard(stream)
            return
        self._close(stream)
        header = before or ("" if entry.stamped else self._previous.get(stream, ""))
        self._open[stream] = Traceback(index, header[:300], entry.rank, entry.pid, stream, last=index)
        self.found.append(self._open[stream])

    def _continue(self, index: int, current: Traceback, text: str) -> bool:
        """Take one more line; False where it no longer belongs to the traceback."""
        plain = _GROUP.sub("", text) if text.lstrip()[:1] in ("|", "+") else text
        link = current.links[-1]
        if _CHAIN.search(plain):
            self._chained.add(current.stream)
            current.last = index
            return True
        frame = _FRAME.match(plain)
        if frame and not link.type:
            current.indented = current.indented or plain[:1] == " "
            where = f"{frame.group(1)}:{frame.group(2)}" if frame.group(2) else frame.group(1)
            link.frames.append(f"{where} in {frame.group(3)}" if frame.group(3) else where)
            current.last = index
            return True
        if not link.type:
            raised = exception_line(plain, strict=not (current.indented and link.frames))
            if raised:
                link.type, link.message = raised
            current.last = index
            return True
        if _FOREIGN.match(plain) or current.stream in self._chained:
            return not plain.strip()
        if not plain.strip():
            return True
        if len(link.detail) < LONGEST_DETAIL:
            link.detail.append(plain)
        if not link.message:
            link.message = plain.strip()
        current.last = index
        return True

    def _close(self, stream: str) -> None:
        self._open.pop(stream, None)
        self._chained.discard(stream)
