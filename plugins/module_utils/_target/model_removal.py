# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a model away again: what model_download brought, and nothing else.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import Any, Callable

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import Settings
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.extras import STATE_DIRECTORY
from ansible_collections.inferops.sglang.plugins.module_utils._target.aria2_unit import Aria2Unit
from ansible_collections.inferops.sglang.plugins.module_utils._target.hf_records import RECORDS
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_directory import (
    LAST_PUBLISHED,
    PARTIAL,
    is_model,
    receipts_in,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_revisions import ModelRevisions
from ansible_collections.inferops.sglang.plugins.module_utils._target.seed_unit import SeedUnit
from ansible_collections.inferops.sglang.plugins.module_utils._target.users_of import Users


class ModelRemoval:
    """*path* as the task names it: one model, or revisions side by side."""

    def __init__(self, path: str, run_command: Callable[..., Any]) -> None:
        self.path = path
        self._run_command = run_command
        self._revisions = ModelRevisions(path)
        self._download = Aria2Unit(run_command, path, path, "the removal", Settings("", 1, 1))
        self._places = [self._revisions.place(commit) for commit in self._revisions.all()]

    @property
    def needed(self) -> bool:
        """Whether anything of ours is there. Raises TransferFailed where the directory is somebody else's."""
        if not os.path.lexists(self.path):
            return False
        if os.path.islink(self.path) or not os.path.isdir(self.path):
            raise TransferFailed(f"{self.path} is not a directory: model_download did not make it and leaves it alone")
        if not self._places and not is_model(self.path) and os.listdir(self.path):
            raise TransferFailed(
                f"{self.path} has no records of model_download, so it cannot tell what it may remove there: "
                "remove the directory by hand"
            )
        return True

    def check_users(self) -> None:
        """Raises TransferFailed where a process, a unit or a download is at work with the model."""
        self._download.refuse_others()
        users = Users(self._run_command).of(self.path)
        if users:
            more = f" and {len(users) - 1} more" if len(users) > 1 else ""
            raise TransferFailed(f"{self.path} is in use by {users[0].title}{more}: stop it, then remove the model")

    def remove(self) -> list[str]:
        """Remove it; returns the paths of files that model_download did not bring and that stay."""
        self._download.stop()
        SeedUnit(self._run_command, self.path).stop()
        with contextlib.suppress(FileNotFoundError):
            if os.path.islink(self._revisions.link):
                os.remove(self._revisions.link)
        for place in [*self._places, self.path]:
            remove_model(place)
        return sorted(os.path.join(folder, name) for folder, _folders, names in os.walk(self.path) for name in names)


def remove_model(place: str) -> None:
    """First what makes a model of it for readers, last the records, so that a removal that was cut off can go on."""
    for path in sorted(receipts_in(place), key=lambda path: path != LAST_PUBLISHED):
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(place, path))
    shutil.rmtree(os.path.join(place, RECORDS), ignore_errors=True)
    for name in sorted(os.listdir(place), key=lambda name: name == STATE_DIRECTORY):
        if name == STATE_DIRECTORY or name.startswith(PARTIAL):
            shutil.rmtree(os.path.join(place, name))
    for folder, _folders, _names in os.walk(place, topdown=False):
        with contextlib.suppress(OSError):  # somebody else's files are in it
            os.rmdir(folder)
