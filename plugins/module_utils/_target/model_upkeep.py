# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows once every file is verified: the link, revisions that go, files that are not of the model.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._target.extra_files import find_extra, remove_extra
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_download import ModelDownload
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_removal import remove_model
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_revisions import Pruning
from ansible_collections.inferops.sglang.plugins.module_utils._target.users_of import Users


@dataclass(frozen=True)
class Upkeep:
    """Only what was looked at, so the same in check mode; carry_out() does it."""

    extra: Sequence[str]  # files beside the model's own that programs would load
    removes_extra: bool
    turns_link: bool
    pruning: Pruning
    writes_records: bool

    @property
    def needed(self) -> bool:
        removes = self.removes_extra and bool(self.extra)
        return removes or self.turns_link or bool(self.pruning.goes) or self.writes_records


def look(download: ModelDownload, extra_files: str, keep: int, run_command: Callable[..., Any]) -> Upkeep:
    """*extra_files* is report, remove or ignore; *keep* is how many revisions stay."""
    directory, revisions = download.directory, download.revisions
    # What an earlier commit left is removed when this one is published, whatever the option says.
    listed = directory.receipted | {file.path for file in download.manifest.files}
    return Upkeep(
        extra=find_extra(directory.path, listed) if extra_files != "ignore" else (),
        removes_extra=extra_files == "remove",
        turns_link=revisions is not None and revisions.current() != download.commit,
        pruning=revisions.pruning(download.commit, keep, lambda: Users(run_command)) if revisions else Pruning(),
        writes_records=download.converged and directory.write_records(download.files, check=True),
    )


def carry_out(download: ModelDownload, upkeep: Upkeep) -> None:
    if upkeep.removes_extra:
        remove_extra(download.directory.path, upkeep.extra)
    if upkeep.writes_records:
        download.directory.write_records(download.files)
    if download.revisions:
        if upkeep.turns_link:
            download.revisions.turn(download.commit)
        for commit in upkeep.pruning.goes:
            remove_model(download.revisions.place(commit))
