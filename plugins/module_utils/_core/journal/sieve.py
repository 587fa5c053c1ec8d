# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Passes over what a healthy server prints by the hundred thousand, before anything is parsed.

A service that dies after a week leaves hundreds of megabytes of batches and answered requests. They say nothing about the
death except that their writer was alive, and what happened just before. So of a long run of them only these are read: the
neighbours of anything that could matter, the last one of each writer, and the first of each kind.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Iterable, Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.words import interesting_bytes

# More than any rule of the diagnosis looks back or ahead over lines that it does not care about.
NEIGHBOURS = 100

# The whole message has to be one of these, without a quote, an escape or a bracket that could begin something else.
_STAMP = rb"\[20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d{1,6})?(?P<rank>(?: [A-Z_]{2,12}\d{1,4}){0,6})\] "
_BATCH = (
    rb"(?:(?P<decode>Decode batch)|(?P<cached>Prefill batch(?=[^\"\\\[]{1,200}?#cached-token: [1-9]))|(?P<prefill>Prefill batch))"
    rb"(?: \[\d{1,12}\])?[,.] #[\w #:.,()/%=-]{1,500}"
)
_ACCESS = rb'(?P<access>INFO: {1,8}[\w.:]{1,60} - \\?"[A-Z]{3,7} /[^"\\ ]{0,200} HTTP/[12](?:\.\d)?\\?" [1-5]\d\d[A-Za-z ]{0,40})'
_MESSAGE = rb"(?:" + _STAMP + rb")?(?:" + _BATCH + rb"|" + _ACCESS + rb")"
_JSON = re.compile(rb'"MESSAGE" ?: ?"' + _MESSAGE + rb'"')
_JSON_PID = re.compile(rb'"_PID" ?: ?"(\d{1,10})"')
_PLAIN = re.compile(
    rb"(?P<before>(?:[\w.:+-]{1,80} {1,2}){0,5}(?:[\w.@-]{1,80}\[(?P<pid>\d{1,10})\]: |\| )?)" + _MESSAGE + rb"\s*\Z"
)
_TEXT = re.compile(rb'"MESSAGE" ?: ?"((?:[^"\\]|\\.){0,2000})"')
_MOST_WRITERS = 1000


def sieve(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of `journalctl -o json` or of a plain log, without those that are routine."""
    return _Sieve().passed(lines)


class _Sieve:
    """Holds back the latest lines, until one comes that could matter or they are too old to be its neighbours."""

    def __init__(self) -> None:
        self._near: deque[tuple[bytes, bytes]] = deque()
        self._last: dict[bytes, bytes] = {}  # by writer, in the order of time
        self._known: set[bytes] = set()

    def passed(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        follow = 0
        for line in lines:
            writer = self._routine(line)
            if not writer and _suspicious(line):
                yield from self._held_back()
                follow = NEIGHBOURS
                yield line
            elif follow:
                follow -= 1
                yield line
            else:
                self._near.append((writer, line))
                if len(self._near) > NEIGHBOURS:
                    yield from self._too_old(*self._near.popleft())
        yield from self._held_back()

    def _routine(self, line: bytes) -> bytes:
        """The writer of a routine line; empty for any other line, and for the first of a kind."""
        kind, writer = _kind_and_writer(line)
        if not kind:
            return b""
        known = kind + b" " + writer
        if known not in self._known:
            if len(self._known) < _MOST_WRITERS:
                self._known.add(known)
            return b""
        return writer or b"-"

    def _too_old(self, writer: bytes, line: bytes) -> Iterator[bytes]:
        if writer:
            self._last.pop(writer, None)
            self._last[writer] = line
        else:
            yield from self._writers()
            yield line

    def _writers(self) -> Iterator[bytes]:
        yield from self._last.values()
        self._last.clear()

    def _held_back(self) -> Iterator[bytes]:
        yield from self._writers()
        yield from (line for _writer, line in self._near)
        self._near.clear()


def _kind_and_writer(line: bytes) -> tuple[bytes, bytes]:
    """What a routine line is and whose; two empty texts for any other line."""
    if line[:1] == b"{":
        found = _JSON.search(line)
        if found is None or b'"_LINE_BREAK"' in line:
            return b"", b""
        named = _JSON_PID.search(line)
        pid = named.group(1) if named else b""
    else:
        found = _PLAIN.match(line)
        if found is None:
            return b"", b""
        before, named_pid = found.group("before", "pid")
        # What stands before the stamp is a prefix, or another writer's last words.
        if before and interesting_bytes(before):
            return b"", b""
        pid = named_pid or b""
    return (found.lastgroup or "").encode(), pid + (found.group("rank") or b"")


def _suspicious(line: bytes) -> bool:
    """True where something may be wrong, as far as can be told without parsing."""
    if line[:1] != b"{":
        return interesting_bytes(line[:2000])
    found = _TEXT.search(line)
    return found is None or interesting_bytes(found.group(1))
