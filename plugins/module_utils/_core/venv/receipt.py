# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A receipt says which content a file had when it was last read, so that an untouched file is never read twice.

It stands outside the tree, which may be a read-only mount.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from typing import Callable, NamedTuple

FORMAT = 1
# A file may be written twice within one tick of the file system's clock and look the same. So a digest is kept
# only for a file that had been at rest for this long when it was read; the same rule as git's racy index.
SETTLED_NS = 2 * 10**9


class Key(NamedTuple):
    """What must be unchanged for a digest to hold: nothing can be written without one of these moving."""

    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int


class Receipt:
    """Digests by path. *now_ns* gives the wall clock in nanoseconds."""

    def __init__(self, now_ns: Callable[[], int], known: dict[str, tuple[Key, str]] | None = None) -> None:
        self._now_ns = now_ns
        self._known: dict[str, tuple[Key, str]] = dict(known or {})
        self._used: dict[str, tuple[Key, str]] = {}
        self.changed = False

    def digest(self, path: str, key: Key) -> str:
        """The digest of the file at *path*, or an empty string if it has to be read."""
        known = self._known.get(path)
        if known and known[0] == key:
            self._used[path] = known
            return known[1]
        return ""

    def note(self, path: str, key: Key, digest: str) -> None:
        """Remember *digest*, unless the file is so young that it may still be changing."""
        if self._now_ns() - max(key.mtime_ns, key.ctime_ns) >= SETTLED_NS:
            self.trust(path, key, digest)

    def trust(self, path: str, key: Key, digest: str) -> None:
        """Remember *digest* of a file that we wrote ourselves and that nobody else writes."""
        self._used[path] = (key, digest)
        self.changed = True

    def save(self, path: str, partial: bool = False) -> None:
        """Write the receipt, which then holds the files seen this time; a *partial* run keeps the others too."""
        keep = {**self._known, **self._used} if partial else self._used
        rows: list[list[object]] = [[name, *key, digest] for name, (key, digest) in keep.items()]
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fresh = f"{path}.{os.getpid()}"  # several targets may ask one reference at the same time
        with gzip.open(fresh, "wt", compresslevel=1, encoding="ascii") as stream:
            json.dump({"format": FORMAT, "files": rows}, stream, separators=(",", ":"))
        os.chmod(fresh, 0o600)
        os.replace(fresh, path)


def load(path: str, now_ns: Callable[[], int]) -> Receipt:
    """Read the receipt at *path*. One that is missing or damaged vouches for nothing, and all is read again."""
    try:
        with gzip.open(path, "rt", encoding="ascii") as stream:
            document = json.load(stream)
        if document["format"] != FORMAT:
            return Receipt(now_ns)
        known = {row[0]: (Key(*row[1:5]), row[5]) for row in document["files"]}
    except (OSError, EOFError, ValueError, KeyError, IndexError, TypeError):
        return Receipt(now_ns)
    return Receipt(now_ns, known)


def location(tree: str, cache_directory: str) -> str:
    """Where the receipt of *tree* stands: a name made of its path, so two trees never share one."""
    name = hashlib.sha256(os.path.abspath(tree).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return os.path.join(cache_directory, name + ".json.gz")
