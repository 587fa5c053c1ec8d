# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a tree: one walk for the metadata, and hashing of what no receipt vouches for.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import re
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Iterator, NamedTuple, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.venv.manifest import ROOT, Entry, is_bytecode
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv.receipt import Key, Receipt

BLOCK_BYTES = 1 << 18  # fits into a core's cache, and is reused
BATCH_BYTES = 256 << 20
BATCH_FILES = 2000
MAX_THREADS = 8


class Found(NamedTuple):
    """An entry of the walk: what `os.lstat` says, without reading any content."""

    path: str
    kind: str
    mode: int
    size: int
    mtime_ns: int
    link: str
    key: Key


class Scan(NamedTuple):
    """The result of `scan`. *finished* is false when the deadline came first; then *entries* is empty."""

    finished: bool
    entries: list[Entry]
    hashed_bytes: int
    pending_bytes: int


def walk(root: str, exclude: Sequence[str] = (), bytecode: bool = True) -> list[Found]:
    """Every directory, file and link below *root*, sorted by path; other kinds (sockets, devices) are left out.

    *exclude* holds shell patterns, matched against the name and against the path from the root.
    """
    left_out = _matcher(exclude)
    found = [_found(ROOT, root, os.stat(root))]
    pending = [""]
    while pending:
        base = pending.pop()
        with os.scandir(os.path.join(root, base)) as names:
            for name in names:
                path = base + name.name
                if left_out(name.name, path) or (not bytecode and name.name == "__pycache__"):
                    continue
                item = _found(path, name.path, name.stat(follow_symlinks=False))
                if item.kind == "d":
                    pending.append(path + "/")
                if item.kind:
                    found.append(item)
    return sorted(found)


def scan(
    found: list[Found], root: str, receipt: Receipt, clock: Callable[[], float], deadline: float | None = None
) -> Scan:
    """Turn a walk into entries. Digests come from *receipt*; what it does not know is read and noted there.

    With a *deadline* (in seconds of *clock*) the work stops after the batch that reaches it: what was hashed
    by then stands in the receipt, and the next call goes on from there.
    """
    digests: dict[str, str] = {}
    unknown: list[Found] = []
    for item in found:
        if item.kind != "f":
            continue
        known = receipt.digest(item.path, item.key)
        if known:
            digests[item.path] = known
        else:
            unknown.append(item)

    hashed = 0
    pending = sum(item.size for item in unknown)
    with ThreadPoolExecutor(min(MAX_THREADS, os.cpu_count() or 1)) as pool:
        for batch in _batches(unknown):
            for item, digest in zip(batch, pool.map(lambda item: _digest(root, item.path), batch)):
                if digest:
                    digests[item.path] = digest
                    receipt.note(item.path, item.key, digest)
                hashed += item.size
            if deadline is not None and clock() >= deadline and hashed < pending:
                return Scan(False, [], hashed, pending - hashed)

    entries = [_entry(item, digests) for item in found if item.kind != "f" or item.path in digests]
    return Scan(True, entries, hashed, 0)


def shape(found: list[Found]) -> list[Entry]:
    """The entries of a walk with no content read, for `manifest.identity(..., contents=False)`."""
    return [_entry(item, {}) for item in found if not is_bytecode(item.path)]


def file_digest(path: str) -> str:
    """The SHA-256 of one file, as hexadecimal digits."""
    digest = hashlib.sha256()
    with open(path, "rb", buffering=0) as stream:
        block = memoryview(bytearray(min(BLOCK_BYTES, os.fstat(stream.fileno()).st_size + 1)))
        count = stream.readinto(block)
        while count:
            digest.update(block[:count])
            count = stream.readinto(block)
    return digest.hexdigest()


def _digest(root: str, path: str) -> str:
    """The digest, or nothing for a file that went away during the walk: comparing before and after tells."""
    try:
        return file_digest(os.path.join(root, path))
    except FileNotFoundError:
        return ""


def _entry(item: Found, digests: dict[str, str]) -> Entry:
    content = item.link if item.kind == "l" else digests.get(item.path, "")
    return Entry(item.path, item.kind, item.mode, item.size, item.mtime_ns, content)


def _found(path: str, full: str, status: os.stat_result) -> Found:
    key = Key(status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)
    if stat.S_ISREG(status.st_mode):
        return Found(path, "f", stat.S_IMODE(status.st_mode), status.st_size, status.st_mtime_ns, "", key)
    if stat.S_ISLNK(status.st_mode):
        return Found(path, "l", 0, 0, 0, os.readlink(full), key)
    if stat.S_ISDIR(status.st_mode):
        return Found(path, "d", stat.S_IMODE(status.st_mode), 0, 0, "", key)
    return Found(path, "", 0, 0, 0, "", key)


def _batches(items: list[Found]) -> Iterator[list[Found]]:
    batch: list[Found] = []
    size = 0
    for item in items:
        batch.append(item)
        size += item.size
        if size >= BATCH_BYTES or len(batch) >= BATCH_FILES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _matcher(patterns: Sequence[str]) -> Callable[[str, str], bool]:
    if not patterns:
        return lambda _name, _path: False
    rule = re.compile("|".join(fnmatch.translate(pattern) for pattern in patterns))
    return lambda name, path: bool(rule.match(name) or rule.match(path))
