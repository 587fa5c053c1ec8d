# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a directory that somebody filled with a model: by this collection, ``hf download``, rsync, by hand.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field

from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.extras import (
    PRIVATE_DIRECTORIES,
    UNFINISHED_DIRECTORY,
)


@dataclass
class ModelTree:
    """*files* maps relative path to status, links followed; *problems* has what could not be read, and why."""

    path: str
    files: dict[str, os.stat_result] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)
    unfinished_directories: list[str] = field(default_factory=list)

    def place(self, path: str) -> str:
        return os.path.join(self.path, path)


def read_tree(path: str) -> ModelTree:
    """Walk *path*; raises OSError where it is no readable directory. What tools keep there for themselves is left out."""
    tree = ModelTree(path)
    _walk(tree, "")
    return tree


def _walk(tree: ModelTree, below: str) -> None:
    try:
        with os.scandir(tree.place(below)) as entries:
            names = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        if not below:
            raise
        tree.problems[below] = f"it cannot be listed: {error.strerror}"
        return
    for entry in names:
        path = f"{below}/{entry.name}" if below else entry.name
        if not below and entry.name.startswith(UNFINISHED_DIRECTORY):
            tree.unfinished_directories.append(entry.name)
        elif not below and entry.name in PRIVATE_DIRECTORIES:
            continue
        elif entry.is_dir(follow_symlinks=False):
            _walk(tree, path)
        else:
            _note(tree, path, entry)


def _note(tree: ModelTree, path: str, entry: os.DirEntry[str]) -> None:
    try:
        found = entry.stat()
    except OSError as error:
        where = f"a link to {os.readlink(entry.path)!r}, which " if entry.is_symlink() else ""
        tree.problems[path] = f"it is {where}cannot be read: {error.strerror}"
        return
    if stat.S_ISREG(found.st_mode):
        tree.files[path] = found
    elif not stat.S_ISDIR(found.st_mode):  # a link to a directory is not followed: it may lead back here
        tree.problems[path] = "it is neither a file nor a directory"
