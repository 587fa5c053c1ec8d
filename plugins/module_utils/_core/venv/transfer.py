# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The contents that travel, as one long stream cut into chunks of equal length.

Both sides know the order and the sizes of the contents, so a chunk is bare bytes without any header, and the
boundaries of files do not matter: a large file spans chunks, and a thousand small ones share one.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import os
from typing import IO, Any, Iterator, NamedTuple, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.venv.difference import Content
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv.manifest import Entry
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv.scan import BLOCK_BYTES, file_digest

PARTIAL = ".partial"


class Piece(NamedTuple):
    """The part of one content that lies in a chunk: *length* bytes from *start*."""

    content: Content
    start: int
    length: int

    @property
    def whole(self) -> bool:
        """Whether this piece is all of its content."""
        return self.length == self.content.size

    @property
    def last(self) -> bool:
        """Whether the content is complete after this piece."""
        return self.start + self.length == self.content.size


class Stream:
    """The contents one after the other."""

    def __init__(self, contents: list[Content]) -> None:
        self._contents = contents
        self._starts: list[int] = []
        position = 0
        for content in contents:
            self._starts.append(position)
            position += content.size
        self.length = position

    def pieces(self, offset: int, length: int) -> Iterator[Piece]:
        """What lies between *offset* and *offset* + *length*, in order."""
        end = min(offset + length, self.length)
        index = bisect.bisect_right(self._starts, offset) - 1
        while offset < end:
            content = self._contents[index]
            start = offset - self._starts[index]
            take = min(content.size - start, end - offset)
            if take:
                yield Piece(content, start, take)
            offset += take
            index += 1


def save_contents(path: str, contents: list[Content]) -> None:
    """Write the list of contents that the receiver wants."""
    _save(path, contents)


def load_contents(path: str) -> list[Content]:
    """Read what `save_contents` wrote."""
    return [Content(*fields) for fields in _load(path)]


def save_files(path: str, contents: list[Content], entries: list[Entry]) -> None:
    """Write where the sender finds each of *contents*, by the *entries* of its own manifest.

    So a receiver can ask for contents, but not for files: nothing outside the sender's tree can be had.
    """
    paths = {entry.content: entry.path for entry in entries if entry.kind == "f"}
    _save(path, [(content.digest, content.size, paths[content.digest]) for content in contents])


def load_files(path: str, root: str) -> tuple[list[Content], dict[str, str]]:
    """Read what `save_files` wrote: the contents, and the file below *root* that holds each."""
    rows = _load(path)
    return [Content(*row[:2]) for row in rows], {row[0]: os.path.join(root, row[2]) for row in rows}


def send(stream: Stream, offset: int, length: int, files: dict[str, str], out: IO[bytes]) -> None:
    """Write one chunk to *out*. *files* says where each content is to be found.

    A file that has become shorter or has gone is filled up with zeros: the receiver sees by the digest that it
    is not what the manifest promised, and nothing behind it is shifted.
    """
    for piece in stream.pieces(offset, length):
        rest = piece.length
        try:
            with open(files[piece.content.digest], "rb", buffering=0) as source:
                source.seek(piece.start)
                while rest:
                    block = source.read(min(rest, BLOCK_BYTES))
                    if not block:
                        break
                    out.write(block)
                    rest -= len(block)
        except FileNotFoundError:
            pass
        while rest:
            out.write(bytes(min(rest, BLOCK_BYTES)))
            rest -= min(rest, BLOCK_BYTES)


def receive(stream: Stream, offset: int, length: int, source: IO[bytes], directory: str) -> list[str]:
    """Put the contents of one chunk into *directory*, each in a file named by its digest.

    A content gets that name when all of it has arrived and its SHA-256 is right. Returns the digests of those
    whose bytes were not what the manifest promised. A chunk that ends early is a ValueError.
    """
    wrong: list[str] = []
    for piece in stream.pieces(offset, length):
        path = os.path.join(directory, piece.content.digest)
        digest = _receive_piece(piece, source, path + PARTIAL)
        if not piece.last:
            continue
        if not piece.whole:
            digest = file_digest(path + PARTIAL)
        if digest == piece.content.digest:
            os.replace(path + PARTIAL, path)
        else:
            os.unlink(path + PARTIAL)
            wrong.append(piece.content.digest)
    return wrong


def _receive_piece(piece: Piece, source: IO[bytes], path: str) -> str:
    digest = hashlib.sha256()
    rest = piece.length
    with open(path, "wb" if piece.start == 0 else "r+b") as target:
        target.seek(piece.start)
        while rest:
            block = source.read(min(rest, BLOCK_BYTES))
            if not block:
                raise ValueError(f"the chunk ends {rest} bytes before the end of {piece.content.digest}")
            if piece.whole:
                digest.update(block)
            target.write(block)
            rest -= len(block)
    return digest.hexdigest()


def _save(path: str, rows: Sequence[tuple[Any, ...]]) -> None:
    with open(path, "w", encoding="ascii") as stream:
        json.dump(rows, stream, separators=(",", ":"))


def _load(path: str) -> list[list[Any]]:
    with open(path, encoding="ascii") as stream:
        rows: list[list[Any]] = json.load(stream)
    return rows


def received(directory: str) -> list[str]:
    """The digests of the contents that an earlier run has received completely."""
    try:
        return [name for name in os.listdir(directory) if len(name) == 64]
    except FileNotFoundError:
        return []
