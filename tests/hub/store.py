# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the hub holds: repositories are plain directories, a commit is a digest over their contents."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LFS_SUFFIXES = (".safetensors", ".bin", ".gguf", ".pt")


@dataclass(frozen=True)
class Blob:
    """One file of a repository; *oid* is the git blob id of the content, or of the pointer file for LFS."""

    path: str
    file: Path
    size: int
    sha256: str
    oid: str
    lfs: bool

    @property
    def etag(self) -> str:
        return self.sha256 if self.lfs else self.oid


@dataclass(frozen=True)
class Snapshot:
    commit: str
    blobs: dict[str, Blob]


@dataclass
class Settings:
    """The optional ``<name>.hub.json`` beside a repository."""

    gated: bool = False
    private: bool = False
    granted: list[str] = field(default_factory=list)  # tokens that passed the gate; empty: every known token
    page_size: int = 1000
    lfs_min_bytes: int = 10 * 1024 * 1024
    signature_seconds: float = 3600.0
    direct: bool = False  # whether the hub sends large files itself, as mirrors do
    revisions: dict[str, str] = field(default_factory=dict)  # ref -> directory beside the repository
    extra_paths: list[str] = field(default_factory=list)  # names to list although no such file exists (hostile ones)


class Store:
    """Finds repositories under *root* and remembers every digest until the file changes."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()
        self._digests: dict[tuple[str, int, int, int], tuple[str, str]] = {}
        self._by_sha256: dict[str, Blob] = {}

    def settings(self, repository: str) -> Settings | None:
        """The settings of *repository*, or None where there is no such repository."""
        if not self._directory(repository).is_dir():
            return None
        file = self._root / f"{repository}.hub.json"
        return Settings(**json.loads(file.read_text())) if file.is_file() else Settings()

    def snapshot(self, repository: str, revision: str, settings: Settings) -> Snapshot | None:
        """The files at *revision*: ``main``, a named revision of the settings, or a full commit id."""
        directories = {"main": self._directory(repository)}
        for name, beside in settings.revisions.items():
            directories[name] = self._directory(repository).parent / beside
        if revision in directories:
            return self._read(directories[revision], settings)
        snapshots = (self._read(directory, settings) for directory in directories.values())
        return next((snapshot for snapshot in snapshots if snapshot.commit == revision), None)

    def by_sha256(self, sha256: str) -> Blob | None:
        return self._by_sha256.get(sha256)

    def _directory(self, repository: str) -> Path:
        return self._root / repository

    def _read(self, directory: Path, settings: Settings) -> Snapshot:
        blobs = {}
        commit = hashlib.sha1()
        for file in sorted(p for p in directory.rglob("*") if p.is_file()):
            blob = self._blob(directory, file, settings)
            blobs[blob.path] = blob
            commit.update(f"{blob.path}\0{blob.sha256}\n".encode())
        return Snapshot(commit.hexdigest(), blobs)

    def _blob(self, directory: Path, file: Path, settings: Settings) -> Blob:
        path = file.relative_to(directory).as_posix()
        stat = file.stat()
        lfs = path.endswith(LFS_SUFFIXES) or stat.st_size >= settings.lfs_min_bytes
        sha256, content_oid = self._digest(file, stat)
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {stat.st_size}\n".encode()
        blob = Blob(path, file, stat.st_size, sha256, git_blob_id(pointer) if lfs else content_oid, lfs)
        if lfs:
            self._by_sha256[sha256] = blob
        return blob

    def _digest(self, file: Path, stat: os.stat_result) -> tuple[str, str]:
        key = (str(file), stat.st_size, stat.st_mtime_ns, stat.st_ino)
        with self._lock:
            if key not in self._digests:
                sha256 = hashlib.sha256()
                oid = hashlib.sha1(b"blob %d\0" % stat.st_size)
                with file.open("rb") as stream:
                    for chunk in iter(lambda: stream.read(1 << 20), b""):
                        sha256.update(chunk)
                        oid.update(chunk)
                self._digests[key] = (sha256.hexdigest(), oid.hexdigest())
            return self._digests[key]


def git_blob_id(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def tree_item(blob: Blob) -> dict[str, Any]:
    """One entry of the tree listing, as the hub writes it."""
    item: dict[str, Any] = {"type": "file", "oid": blob.oid, "size": blob.size, "path": blob.path}
    if blob.lfs:
        item["lfs"] = {"oid": blob.sha256, "size": blob.size, "pointerSize": 134}
    return item
