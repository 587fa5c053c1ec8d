# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tree consists of: its entries, its identity, and the file that carries them between hosts.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from typing import Iterable, NamedTuple

FORMAT = 1
EMPTY = hashlib.sha256(b"").hexdigest()
ROOT = "."


class Entry(NamedTuple):
    """One directory (``d``), regular file (``f``) or symbolic link (``l``) of a tree.

    *path* is relative to the root, which is the entry ``.`` itself. *content* is the SHA-256 of a file, the
    target of a link, and empty for a directory. Links and directories have no size and no time.
    """

    path: str
    kind: str
    mode: int
    size: int
    mtime_ns: int
    content: str


def is_bytecode(path: str) -> bool:
    """Whether *path* is Python's own cache: it appears and goes as imports happen, so it makes no difference."""
    return "__pycache__" in path.split("/")


def identity(entries: Iterable[Entry], contents: bool = True) -> str:
    """A digest that two trees share when they hold the same things; without *contents*, the same shape.

    Times do not count, because a reinstall of the same files changes nothing; neither does bytecode.
    """
    digest = hashlib.sha256()
    for entry in sorted(entries):
        if is_bytecode(entry.path):
            continue
        content = entry.content if contents or entry.kind == "l" else ""
        line = "\0".join((entry.path, entry.kind, f"{entry.mode:o}", str(entry.size), content))
        digest.update(line.encode("utf-8", "surrogateescape") + b"\n")
    return digest.hexdigest()


def total_bytes(entries: Iterable[Entry]) -> int:
    """The size of all files together, in bytes."""
    return sum(entry.size for entry in entries)


def file_count(entries: Iterable[Entry]) -> int:
    """How many regular files there are."""
    return sum(1 for entry in entries if entry.kind == "f")


def save(path: str, entries: list[Entry]) -> None:
    """Write *entries* to the file *path*."""
    with gzip.open(path, "wt", compresslevel=1, encoding="ascii") as stream:
        json.dump({"format": FORMAT, "entries": entries}, stream, separators=(",", ":"))


def load(path: str) -> list[Entry]:
    """Read what `save` wrote. A path that could leave the tree is a ValueError, so nothing is built from it."""
    with gzip.open(path, "rt", encoding="ascii") as stream:
        document = json.load(stream)
    if document.get("format") != FORMAT:
        raise ValueError(f"the manifest has format {document.get('format')!r}, this side understands {FORMAT}")
    entries = [Entry(*fields) for fields in document["entries"]]
    _refuse_escapes(entries)
    return entries


def _refuse_escapes(entries: list[Entry]) -> None:
    kinds: dict[str, str] = {entry.path: entry.kind for entry in entries}
    for entry in entries:
        if entry.path == ROOT:
            continue
        parts = entry.path.split("/")
        if "" in parts or "." in parts or ".." in parts or "\0" in entry.path:
            raise ValueError(f"the manifest names {entry.path!r}, which is not a path inside the tree")
        parent = "/".join(parts[:-1]) or ROOT
        if kinds.get(parent) != "d":
            raise ValueError(f"the manifest names {entry.path!r}, but {parent!r} is not a directory of it")
