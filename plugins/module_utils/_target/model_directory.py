# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The directory of a model: finished files under their names, unverified ones apart, receipts for both.

    <path>/config.json, model-00001-of-00002.safetensors ...   verified files, nothing else
    <path>/.partial-<commit>/                                  what is on its way, and its receipts
    <path>/.model_download/                                    the published manifest, the receipts, the lock
    <path>/.cache/huggingface/download/                        what hf keeps about the same files, see hf_records.py

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import threading
import time
from typing import BinaryIO, Iterator, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.control_file import is_usable
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import OnDisk
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import (
    Manifest,
    ManifestFile,
    dump_manifest,
    load_manifest,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.extras import STATE_DIRECTORY
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.receipts import (
    Receipt,
    dump_receipts,
    load_receipts,
    receipt_for,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.hf_records import remove_record, write_records

PARTIAL = ".partial-"
CONTROL_SUFFIX = ".aria2"
PLAIN_SUFFIX = ".plain"  # a file that the hub itself is sending
# A directory is a model for its readers once this file is there, so it comes last.
LAST_PUBLISHED = "config.json"


class ModelDirectory:
    """*siblings* are directories of other revisions, whose equal files need not be fetched again."""

    def __init__(self, path: str, commit: str, siblings: Sequence[str] = ()) -> None:
        self.path = path
        self.commit = commit
        self.staging = os.path.join(path, PARTIAL + commit)
        self._state = os.path.join(path, STATE_DIRECTORY)
        self._lock = threading.Lock()
        self._final = receipts_in(path)
        self._twins = {
            receipt.digest: (os.path.join(sibling, name), receipt)
            for sibling in siblings
            for name, receipt in receipts_in(sibling).items()
        }
        self._staged = load_receipts(_read(os.path.join(self.staging, STATE_DIRECTORY, "receipts.json")))

    @property
    def receipted(self) -> set[str]:
        """The paths of the files under their final names that have a receipt, also one of an earlier commit."""
        return set(self._final)

    def final(self, path: str) -> str:
        return os.path.join(self.path, path)

    def staged(self, path: str) -> str:
        return os.path.join(self.staging, path)

    def manifest(self, repository: str) -> Manifest | None:
        """The listing of this commit as an earlier run or slice kept it."""
        for directory in (self._state, os.path.join(self.staging, STATE_DIRECTORY)):
            manifest = load_manifest(_read(os.path.join(directory, "manifest.json")))
            if manifest and (manifest.repository, manifest.commit) == (repository, self.commit):
                return manifest
        return None

    def published_commit(self) -> str | None:
        manifest = load_manifest(_read(os.path.join(self._state, "manifest.json")))
        return manifest.commit if manifest else None

    def open_staging(self, manifest: Manifest) -> None:
        """Make room for this commit and throw away what another one left unfinished."""
        os.makedirs(self.path, exist_ok=True)
        for name in os.listdir(self.path):
            if name.startswith(PARTIAL) and name != PARTIAL + self.commit:
                shutil.rmtree(os.path.join(self.path, name))
        os.makedirs(self._state, mode=0o755, exist_ok=True)
        os.makedirs(os.path.join(self.staging, STATE_DIRECTORY), mode=0o700, exist_ok=True)
        os.chmod(self.staging, 0o700)
        _write(os.path.join(self.staging, STATE_DIRECTORY, "manifest.json"), dump_manifest(manifest))

    def is_final(self, file: ManifestFile) -> bool:
        """Whether the file has its name, and a receipt that covers it as it is now."""
        return self._covered(self.final(file.path), file)

    def is_staged(self, file: ManifestFile) -> bool:
        return self._covered(self.staged(file.path), file)

    def could_be_final(self, file: ManifestFile) -> bool:
        """Whether a file of this name and size is there, by whomever."""
        found = _stat(self.final(file.path))
        if found is None or found.st_size != file.size:
            return False
        receipt = self._final.get(file.path)
        # A receipt for other content spares the look: a new revision whose shards kept their sizes.
        return receipt is None or not receipt.covers(found, file.size, receipt.digest)

    def has_twin(self, file: ManifestFile) -> bool:
        """Whether another revision has a verified file of the same content."""
        if file.digest not in self._twins:
            return False
        place, receipt = self._twins[file.digest]
        found = _stat(place)
        return found is not None and receipt.covers(found, file.size, file.digest)

    def adopt(self, files: Sequence[ManifestFile]) -> None:
        """Give the twins of *files* a second name among the staged ones, as far as the file system can."""
        for file in files:
            place, receipt = self._twins[file.digest]
            self.discard(file.path)
            os.makedirs(os.path.dirname(self.staged(file.path)), mode=0o700, exist_ok=True)
            try:
                os.link(place, self.staged(file.path))
            except OSError:
                continue  # it is fetched instead
            self._staged[file.path] = receipt_for(os.stat(place), receipt.digest, self.commit)
        if files:
            self._save_staged()

    def distrust(self) -> None:
        """Forget that the files under their names, and their twins, were ever hashed."""
        self._final.clear()
        self._twins.clear()

    def save_receipts(self) -> None:
        _write(os.path.join(self._state, "receipts.json"), dump_receipts(self._final))

    def look(self, path: str, size: int) -> OnDisk:
        """What is there of a file that is on its way and will have *size* bytes."""
        plain, found = _stat(self.staged(path) + PLAIN_SUFFIX), _stat(self.staged(path))
        if found is None:
            return OnDisk(held_bytes=plain.st_size if plain else 0)
        control = _stat(self.staged(path) + CONTROL_SUFFIX)
        resumable = control is not None and _can_resume(self.staged(path) + CONTROL_SUFFIX, size)
        return OnDisk(True, found.st_size if not control or resumable else -1, found.st_blocks * 512, resumable)

    def discard(self, path: str) -> None:
        with self._lock:
            self._staged.pop(path, None)
        for suffix in ("", CONTROL_SUFFIX, PLAIN_SUFFIX):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.staged(path) + suffix)

    @contextlib.contextmanager
    def receiving(self, path: str) -> Iterator[BinaryIO]:
        """The file that a sender appends to."""
        target = self.staged(path) + PLAIN_SUFFIX
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        with open(target, "ab+") as stream:
            yield stream

    def received(self, path: str) -> None:
        os.replace(self.staged(path) + PLAIN_SUFFIX, self.staged(path))

    def note_verified(self, path: str, place: str, receipt: Receipt) -> None:
        """Keep the receipt of a file that was hashed in *place* and is known to be on stable storage."""
        with self._lock:
            if place == self.final(path):
                self._final[path] = receipt
            else:
                self._staged[path] = receipt
                self._save_staged()

    def publish(self, manifest: Manifest, files: Sequence[ManifestFile]) -> bool:
        """Give the staged files their names; drop files of an earlier commit that this one no longer has.

        Returns whether anything is different now.
        """
        changed = self.published_commit() != manifest.commit
        for file in sorted(files, key=lambda file: file.path == LAST_PUBLISHED):
            if self.is_staged(file):
                os.makedirs(os.path.dirname(self.final(file.path)), exist_ok=True)
                os.replace(self.staged(file.path), self.final(file.path))
                self._final[file.path] = self._staged[file.path]
                changed = True
        listed = {file.path for file in manifest.files}
        for path in [path for path in self._final if path not in listed]:
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.final(path))
            remove_record(self.path, path)
            del self._final[path]
            changed = True
        self.write_records(files)
        _write(os.path.join(self._state, "manifest.json"), dump_manifest(manifest))
        self.save_receipts()
        shutil.rmtree(self.staging, ignore_errors=True)
        return changed

    def write_records(self, files: Sequence[ManifestFile], check: bool = False) -> bool:
        """The records of the hub's own client; returns whether any was lacking."""
        return write_records(self.path, self.commit, files, time.time(), check)

    def _save_staged(self) -> None:
        _write(os.path.join(self.staging, STATE_DIRECTORY, "receipts.json"), dump_receipts(self._staged))

    def free_bytes(self) -> int:
        """What the file system still takes, asked at the nearest directory that exists."""
        place = os.path.abspath(self.path)
        while not os.path.isdir(place):
            place = os.path.dirname(place)
        space = os.statvfs(place)
        return space.f_bavail * space.f_frsize

    def _covered(self, place: str, file: ManifestFile) -> bool:
        found = _stat(place)
        if found is None:
            return False
        receipts = (self._final.get(file.path), self._staged.get(file.path))
        return any(receipt is not None and receipt.covers(found, file.size, file.digest) for receipt in receipts)


def receipts_in(path: str) -> dict[str, Receipt]:
    """The receipts of the finished files in a model's directory."""
    return load_receipts(_read(os.path.join(path, STATE_DIRECTORY, "receipts.json")))


def is_model(path: str) -> bool:
    """Whether a download has left its records here, finished or not."""
    try:
        return any(name == STATE_DIRECTORY or name.startswith(PARTIAL) for name in os.listdir(path))
    except OSError:
        return False


def finished_at(path: str) -> float:
    """When the model in *path* was complete, in seconds since the epoch; 0 where it never was."""
    try:
        return os.stat(os.path.join(path, STATE_DIRECTORY, "manifest.json")).st_mtime
    except OSError:
        return 0.0


def _stat(path: str) -> os.stat_result | None:
    """The status of a regular file; links are not followed, since the model is to be real files."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _can_resume(control: str, size: int) -> bool:
    """Whether the control file says which parts are there; after a power cut it may not."""
    try:
        with open(control, "rb") as stream:
            return is_usable(stream.read(), size)
    except OSError:
        return False


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read()
    except (OSError, UnicodeDecodeError):
        return ""


def _write(path: str, text: str) -> None:
    with open(path + ".new", "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(path + ".new", path)
