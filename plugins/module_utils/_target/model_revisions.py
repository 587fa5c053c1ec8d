# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several revisions of one model side by side.

    <path>/<commit>/         one revision, in the shape of a directory of its own (see model_directory.py)
    <path>/current           a link to the revision that was finished last

Files that two revisions have in common are one file with two names, so a new revision costs what differs.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from typing import Callable, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.names import is_commit
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_directory import finished_at, is_model
from ansible_collections.inferops.sglang.plugins.module_utils._target.users_of import User, Users

CURRENT = "current"


@dataclass(frozen=True)
class Pruning:
    """The commits that go, and for those that stay although they are too many a sentence that says why."""

    goes: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()


class ModelRevisions:
    def __init__(self, path: str) -> None:
        self.path = path
        self.link = os.path.join(path, CURRENT)

    def place(self, commit: str) -> str:
        return os.path.join(self.path, commit)

    def current(self) -> str | None:
        """The commit that the link leads to."""
        try:
            commit = os.readlink(self.link)
        except OSError:
            return None
        return commit if is_commit(commit) else None

    def all(self) -> list[str]:
        """Every revision that is there, the one that was finished last first, unfinished ones at the end."""
        try:
            names = [name for name in os.listdir(self.path) if is_commit(name) and is_model(self.place(name))]
        except OSError:
            return []
        return sorted(sorted(names), key=lambda name: finished_at(self.place(name)), reverse=True)

    def others(self, commit: str) -> list[str]:
        return [self.place(other) for other in self.all() if other != commit]

    def turn(self, commit: str) -> None:
        """Lead the link to *commit*, in one step for whoever looks."""
        if os.path.lexists(self.link) and not os.path.islink(self.link):
            raise TransferFailed(f"{self.link} is not a link: move it away, this name is for the newest revision")
        staged = f"{self.link}.new"
        with contextlib.suppress(FileNotFoundError):
            os.remove(staged)
        os.symlink(commit, staged)
        os.replace(staged, self.link)

    def pruning(self, commit: str, keep: int, read_users: Callable[[], Users]) -> Pruning:
        """What is to go where *keep* revisions are kept, *commit* among them; to be asked before the link is turned."""
        others = [other for other in self.all() if other != commit]
        finished = [other for other in others if finished_at(self.place(other))]
        # What was never finished is no revision to keep.
        rest = [other for other in others if other not in finished[: max(0, keep - 1)]]
        if not rest:
            return Pruning()
        users = read_users()
        goes, stays = [], []
        for other in rest:
            in_use = self._users_of(other, users)
            if in_use:
                stays.append(f"Revision {other} of {self.path} stays: {in_use[0].title} uses it")
            else:
                goes.append(other)
        return Pruning(tuple(goes), tuple(stays))

    def _users_of(self, other: str, users: Users) -> Sequence[User]:
        found = users.of(self.place(other))
        try:
            turned_at = os.lstat(self.link).st_mtime
        except OSError:
            return found
        # Who has run since before the link was turned, and speaks of it, may use any of those that it led to.
        return found or ([] if other == self.current() else users.of_link(self.link, turned_at))


def check_layout(path: str, side_by_side: bool) -> None:
    """Raises TransferFailed where *path* holds the other of the two layouts."""
    if side_by_side and finished_at(path):
        raise TransferFailed(
            f"{path} holds one model directly, not revisions side by side: name another path, or layout: single"
        )
    if not side_by_side and (os.path.islink(os.path.join(path, CURRENT)) or ModelRevisions(path).all()):
        raise TransferFailed(f"{path} holds revisions side by side: name another path, or layout: revisions")
