# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the new tree beside the live one, out of what is there and what has arrived.

The live tree is in use: a file of it may be shared with the new tree, but is never written, not even its
mode or time. What does not fit is copied.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from typing import NamedTuple

from ansible_collections.inferops.sglang.plugins.module_utils._core.venv.manifest import (
    EMPTY,
    ROOT,
    Entry,
    is_bytecode,
)

FICLONE = 0x40049409  # linux/fs.h: share the blocks of a file, where the file system can (xfs, btrfs)


class Sources(NamedTuple):
    """Where contents are: the live tree by path and by digest, and the directory of what has arrived."""

    live: str
    live_by_path: dict[str, Entry]
    parts: str

    def live_by_digest(self) -> dict[str, Entry]:
        """One file of the live tree for each content."""
        return {entry.content: entry for entry in self.live_by_path.values() if entry.kind == "f"}


def build(root: str, wanted: list[Entry], sources: Sources) -> list[str]:
    """Build the tree *wanted* at *root*, which must not exist yet. Returns the paths it left out.

    Left out is only bytecode whose content is nowhere: Python writes it again. Any other content that is
    missing is a FileNotFoundError.
    """
    placer = _Placer(sources)
    left_out: list[str] = []
    for entry in sorted(wanted):
        path = root if entry.path == ROOT else os.path.join(root, entry.path)
        if entry.kind == "d":
            os.mkdir(path, 0o700)
        elif entry.kind == "l":
            os.symlink(entry.content, path)
        elif not placer.place(entry, path):
            if not is_bytecode(entry.path):
                raise FileNotFoundError(f"no content {entry.content} for {entry.path}")
            left_out.append(entry.path)
    for entry in wanted:  # last, because a directory may be read-only
        if entry.kind == "d":
            os.chmod(root if entry.path == ROOT else os.path.join(root, entry.path), entry.mode)
    return left_out


class _Placer:
    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._live_by_digest = sources.live_by_digest()
        self._taken: dict[str, str] = {}
        self._clones = True  # until the file system says no

    def place(self, entry: Entry, path: str) -> bool:
        if entry.content == EMPTY:
            with open(path, "xb"):
                pass
            return _finish(entry, path)
        live = self._sources.live_by_path.get(entry.path)
        if live and live.kind == "f" and live.content == entry.content:
            return self._from_live(entry, live, path)
        live = self._live_by_digest.get(entry.content)
        if live:
            return self._from_live(entry, live, path)
        return self._from_parts(entry, path)

    def _from_live(self, entry: Entry, live: Entry, path: str) -> bool:
        source = os.path.join(self._sources.live, live.path)
        if (live.mode, live.mtime_ns) != (entry.mode, entry.mtime_ns):
            return _copy(source, path, entry)
        if self._clones:
            try:
                return _clone(source, path, entry)
            except OSError:
                self._clones = False
        return _link(source, path, entry)

    def _from_parts(self, entry: Entry, path: str) -> bool:
        # A part stays where it is until the swap is done, so that an interrupted run can build again without
        # a transfer. Linking costs nothing; a second file with the same content gets bytes of its own.
        part = os.path.join(self._sources.parts, entry.content)
        if entry.content in self._taken:
            return _copy(self._taken[entry.content], path, entry)
        try:
            os.link(part, path)
        except FileNotFoundError:
            return False
        self._taken[entry.content] = path
        return _finish(entry, path)


def _link(source: str, path: str, entry: Entry) -> bool:
    try:
        os.link(source, path)
    except OSError:  # too many links, or a file system without any
        return _copy(source, path, entry)
    return True


def _clone(source: str, path: str, entry: Entry) -> bool:
    with open(source, "rb") as origin, open(path, "xb") as target:
        try:
            fcntl.ioctl(target.fileno(), FICLONE, origin.fileno())
        except OSError:
            os.unlink(path)
            raise
    return _finish(entry, path)


def _copy(source: str, path: str, entry: Entry) -> bool:
    shutil.copyfile(source, path)
    return _finish(entry, path)


def _finish(entry: Entry, path: str) -> bool:
    os.chmod(path, entry.mode)
    os.utime(path, ns=(entry.mtime_ns, entry.mtime_ns))
    return True
