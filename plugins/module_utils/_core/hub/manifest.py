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


def dump_manifest(manifest: Manifest) -> str:
    files = [[file.path, file.size, file.digest] for file in manifest.files]
    return json.dumps({"repository": manifest.repository, "commit": manifest.commit, "files": files}, indent=1) + "\n"


def load_manifest(text: str) -> Manifest | None:
    """The manifest in *text*, or None where it is damaged and has to be fetched again."""
    try:
        value = json.loads(text)
        files = tuple(ManifestFile(str(path), int(size), str(digest)) for path, size, digest in value["files"])
        return Manifest(str(value["repository"]), str(value["commit"]), files)
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _is_hex(value: Any, length: int) -> bool:
    return isinstance(value, str) and len(value) == length and all(digit in "0123456789abcdef" for digit in value)
