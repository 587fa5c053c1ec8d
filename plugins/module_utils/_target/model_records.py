# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a directory knows about its own files: the listing and receipts of a download, or what ``hf download`` left.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from dataclasses import dataclass, field
from typing import Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.local import (
    METADATA_DIRECTORY,
    METADATA_SUFFIX,
    digest_of_link,
    parse_metadata,
    snapshot_of,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import (
    Manifest,
    ManifestFile,
    load_manifest,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.extras import STATE_DIRECTORY
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.receipts import Receipt, load_receipts
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_tree import ModelTree


@dataclass
class Records:
    """*source* is "download", "huggingface" or "none"; only a download has receipts."""

    source: str = "none"
    manifest: Manifest | None = None
    wanted: set[str] | None = None  # the files of the listing that the download was asked for; None means all
    receipts: dict[str, Receipt] = field(default_factory=dict)
    unfinished: list[str] = field(default_factory=list)

    def covers(self, file: ManifestFile, found: os.stat_result) -> bool:
        """Whether a receipt says that *file* was hashed and has not been touched since."""
        receipt = self.receipts.get(file.path)
        return receipt is not None and receipt.covers(found, file.size, file.digest)


def read_records(tree: ModelTree) -> Records:
    receipts = load_receipts(_read(os.path.join(tree.path, STATE_DIRECTORY, "receipts.json")))
    manifest = load_manifest(_read(os.path.join(tree.path, STATE_DIRECTORY, "manifest.json")))
    if manifest:
        # The listing has every file of the commit, the receipts only those that were wanted.
        return Records("download", manifest, set(receipts) or None, receipts)
    records = _metadata_records(tree)
    if records.manifest is None:
        records.manifest = _snapshot_manifest(tree)
    if records.manifest:
        records.source = "huggingface"
    return records


@contextlib.contextmanager
def held_still(path: str) -> Iterator[bool]:
    """Keep downloads of this collection out of the directory; gives False where one is at work right now."""
    try:
        descriptor = os.open(os.path.join(path, STATE_DIRECTORY, "lock"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # no download of ours was ever here, or this user may not look
        yield True
        return
    with os.fdopen(descriptor) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _metadata_records(tree: ModelTree) -> Records:
    """The metadata of ``hf download --local-dir``. It has no sizes, so a file counts with the one it has."""
    records, files, commits = Records(), [], set()
    root = os.path.join(tree.path, METADATA_DIRECTORY)
    for folder, _folders, names in os.walk(root):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), root)
            if name.endswith(".incomplete"):
                records.unfinished.append(os.path.join(METADATA_DIRECTORY, path))
            elif name.endswith(METADATA_SUFFIX):
                path = path[: -len(METADATA_SUFFIX)]
                record = parse_metadata(_read(os.path.join(folder, name)))
                if record:
                    commits.add(record.commit)
                    files.append(ManifestFile(path, _size(tree, path), record.digest))
    if files:
        commit = commits.pop() if len(commits) == 1 else ""
        records.manifest = Manifest("", commit, tuple(sorted(files, key=lambda file: file.path)))
    return records


def _snapshot_manifest(tree: ModelTree) -> Manifest | None:
    """A snapshot in a cache of the hub's client: its links are named after the digests of what they point to."""
    repository, commit = snapshot_of(os.path.abspath(tree.path))
    files = []
    for path in sorted({*tree.files, *tree.problems}):
        place = tree.place(path)
        digest = digest_of_link(os.readlink(place)) if commit and os.path.islink(place) else None
        if digest:
            files.append(ManifestFile(path, _size(tree, path), digest))
    return Manifest(repository, commit, tuple(files)) if files else None


def _size(tree: ModelTree, path: str) -> int:
    found = tree.files.get(path)
    return found.st_size if found else 0


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError):
        return ""
