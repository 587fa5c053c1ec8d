# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of files at one commit, and which of them are wanted.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import fnmatch
import json
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

# The names of the two kinds of digests in a manifest file, and how many hex digits they have.
_KEYS = {"sha256": "sha256", "git-sha1": "git_blob_id"}
_LENGTHS = {"sha256": 64, "git-sha1": 40}


class ManifestRefused(Exception):  # noqa: N818  reads better where it is raised
    """What is wrong with a manifest file, as a sentence without its name."""


@dataclass(frozen=True)
class ManifestFile:
    """*digest* is "sha256:<hex>" for a file kept in LFS, "git-sha1:<hex>" (the git blob id) for a small one."""

    path: str
    size: int
    digest: str


@dataclass(frozen=True)
class Manifest:
    repository: str
    commit: str
    files: tuple[ManifestFile, ...]

    def select(self, include: Sequence[str], exclude: Sequence[str]) -> tuple[ManifestFile, ...]:
        """The files that match a pattern of *include* (all where it is empty) and none of *exclude*.

        Patterns are those of ``hf download``: shell globs over the whole path, ``*`` crosses ``/``, and a
        pattern that ends in ``/`` means everything below.
        """
        return tuple(
            file
            for file in self.files
            if (not include or _matches(file.path, include)) and not _matches(file.path, exclude)
        )


def _matches(path: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(path, pattern + "*" if pattern.endswith("/") else pattern) for pattern in patterns)


def file_of_tree_item(item: Mapping[str, Any]) -> ManifestFile | None:
    """One entry of the tree listing; None for a directory. Raises ValueError where it is not an entry at all."""
    if item.get("type") != "file":
        return None
    lfs = item.get("lfs")
    path, size = item.get("path"), lfs.get("size") if isinstance(lfs, dict) else item.get("size")
    identity = lfs.get("oid") if isinstance(lfs, dict) else item.get("oid")
    # The oid of an LFS entry itself is the id of its pointer file, not of the content.
    kind, length = ("sha256", 64) if isinstance(lfs, dict) else ("git-sha1", 40)
    if (
        not isinstance(path, str)
        or not isinstance(size, int)
        or isinstance(size, bool)
        or size < 0
        or not _is_hex(identity, length)
    ):
        raise ValueError(f"an entry without a path, a size and a digest: {str(dict(item))[:200]}")
    return ManifestFile(path, size, f"{kind}:{identity}")


def public(file: ManifestFile) -> dict[str, Any]:
    """One file as a manifest file and the modules' results have it."""
    kind, _colon, value = file.digest.partition(":")
    return {"path": file.path, "size": file.size, _KEYS[kind]: value}


def dump_manifest(manifest: Manifest) -> str:
    files = [public(file) for file in manifest.files]
    return json.dumps({"repository": manifest.repository, "commit": manifest.commit, "files": files}, indent=1) + "\n"


def load_manifest(text: str) -> Manifest | None:
    """The manifest in *text*, or None where it is damaged and has to be fetched again."""
    try:
        return read_manifest(text)
    except ManifestRefused:
        return None


def read_manifest(text: str) -> Manifest:
    """The manifest that a person hands in; raises ManifestRefused with the first thing that is wrong with it.

    ``{"repository": "o/n", "commit": "<40 hex>", "files": [{"path": "a", "size": 1, "sha256": "<64 hex>"}, ...]}``;
    a small file may have a ``git_blob_id`` of 40 digits in place of the sha256. Repository and commit may be left
    out; other keys are ignored. Names are not judged here.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ManifestRefused(f"it is not valid JSON: {error}") from None
    entries = value.get("files") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise ManifestRefused('it has no list "files"')
    repository, commit = value.get("repository", ""), value.get("commit", "")
    if not isinstance(repository, str) or (commit != "" and not _is_hex(commit, 40)):
        raise ManifestRefused(f"its commit is {commit!r} of repository {repository!r}; a commit has 40 hex digits")
    files = [_file(entry) for entry in entries]
    return Manifest(repository, commit, tuple(sorted(files, key=lambda file: file.path)))


def _file(entry: Any) -> ManifestFile:
    shown = str(entry)[:200]
    if not isinstance(entry, dict):
        raise ManifestRefused(f"its file {shown} is no object")
    path, size = entry.get("path"), entry.get("size")
    if not isinstance(path, str) or not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise ManifestRefused(f"its file {shown} has no path and size in bytes")
    for kind, length in _LENGTHS.items():
        if _is_hex(entry.get(_KEYS[kind]), length):
            return ManifestFile(path, size, f"{kind}:{entry[_KEYS[kind]]}")
    raise ManifestRefused(f"its file {shown} has no sha256 of 64 lower-case hex digits and no git_blob_id of 40")


def _is_hex(value: Any, length: int) -> bool:
    return isinstance(value, str) and len(value) == length and all(digit in "0123456789abcdef" for digit in value)
