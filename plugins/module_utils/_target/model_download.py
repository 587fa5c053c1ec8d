# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One slice of a model download: pin, survey, transfer, verify, publish.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.budget import Budget
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import (
    Job,
    OnDisk,
    Ports,
    Transfer,
    TransferFailed,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.memory import load_memory
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import Settings
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.readable import progress_line, readable_bytes
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.client import Hub
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import Manifest, ManifestFile
from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.pace import Pace
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.digests import digest_of, kind_of
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.index import (
    INDEX_SUFFIX,
    WeightIndexError,
    compare_index,
    parse_index,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.receipts import receipt_for
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.safetensors import (
    Header,
    SafetensorsError,
    read_header,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.alarm import Alarm
from ansible_collections.inferops.sglang.plugins.module_utils._target.aria2_unit import Aria2Unit
from ansible_collections.inferops.sglang.plugins.module_utils._target.directory_lock import locked
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_directory import ModelDirectory
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_revisions import (
    ModelRevisions,
    check_layout,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_sources import ModelSources
from ansible_collections.inferops.sglang.plugins.module_utils._target.swarm import Group, Swarm
from ansible_collections.inferops.sglang.plugins.module_utils._target.web import Web

REQUEST_THREADS = 8
MAX_HASH_THREADS = 16
WEIGHTS_SUFFIX = ".safetensors"


@dataclass(frozen=True)
class Wish:
    """What the task asked for, and what an earlier slice of it left to remember in *resume*."""

    repository: str
    revision: str
    path: str
    endpoint: str
    token: str
    include: Sequence[str]
    exclude: Sequence[str]
    verify: str
    slice_seconds: float
    resume: dict[str, Any]
    mirrors: Sequence[str] = ()
    side_by_side: bool = False  # whether path holds a directory for each commit
    group: Group | None = None  # the hosts that share, or None where each fetches alone
    manifest: Manifest | None = None  # the listing, where it is not the hub's


@dataclass
class Survey:
    """Where each wanted file stands before anything is done."""

    current: list[ManifestFile] = field(default_factory=list)
    staged: list[ManifestFile] = field(default_factory=list)
    twins: list[ManifestFile] = field(default_factory=list)  # verified in another revision
    unproven: list[ManifestFile] = field(default_factory=list)  # there under its name, to be hashed
    missing: list[ManifestFile] = field(default_factory=list)


class ModelDownload:
    def __init__(self, wish: Wish, web: Web, run_command: Callable[..., Any], settings: Settings) -> None:
        self._wish = wish
        hub = Hub(web, wish.endpoint, wish.token, time.sleep)
        pinned = wish.manifest.commit if wish.manifest else wish.resume.get("commit")
        self.commit = pinned or hub.commit_of(wish.repository, wish.revision)
        check_layout(wish.path, wish.side_by_side)
        self.revisions = ModelRevisions(wish.path) if wish.side_by_side else None
        self.directory = (
            ModelDirectory(self.revisions.place(self.commit), self.commit, self.revisions.others(self.commit))
            if self.revisions
            else ModelDirectory(wish.path, self.commit)
        )
        kept = wish.manifest or self.directory.manifest(wish.repository)
        self.manifest = kept or hub.manifest(wish.repository, self.commit)
        self.files = self.manifest.select(wish.include, wish.exclude)
        self.bytes = sum(file.size for file in self.files)
        self._by_path = {file.path: file for file in self.files}
        self.resume = dict(wish.resume, commit=self.commit)
        if wish.verify == "full" and not wish.resume:
            self.directory.distrust()
        self.survey = self._survey()
        self.resume.setdefault("downloaded_bytes", self.bytes_to_fetch())
        self.resume.setdefault("verified_files", 0)
        self._in_place = {file.path for file in self.survey.unproven}
        self.unit = Aria2Unit(
            run_command, wish.path, self.directory.staging, f"{wish.repository}@{self.commit}", settings
        )
        self._budget = Budget(
            settings.bytes_per_second,
            Pace(settings.bytes_per_second, time.monotonic, time.sleep),
            self.unit.limit,
        )
        self._sources = ModelSources(
            wish.repository,
            self.commit,
            web,
            hub,
            {address: Hub(web, address, "", time.sleep) for address in wish.mirrors},
            bool(wish.token),
            self.resume.get("mirrors_out", {}),
        )
        self._swarm: Swarm | None = None
        if wish.group:
            sources = self.resume.get("sources", {})
            self._swarm = Swarm(wish.group, self.survey.missing, settings.parallel_files, sources)
        self.resume.setdefault("shared_bytes", 0)
        self._deadline = time.time() + wish.slice_seconds if wish.slice_seconds else float("inf")
        self._counting = threading.Lock()
        self._alarm = Alarm()
        self.progress = ""

    @property
    def converged(self) -> bool:
        """Whether nothing is left to do."""
        return len(self.survey.current) == len(self.files) and self.directory.published_commit() == self.commit

    def published_commit(self) -> str | None:
        """The commit that whoever names the model's path gets now."""
        return self.revisions.current() if self.revisions else self.directory.published_commit()

    def warnings(self) -> list[str]:
        """What was noticed on the way, as sentences."""
        silent = self.resume.get("unreached", [])
        said = [f"A mirror is out: {reason}" for reason in self.resume.get("mirrors_out", {}).values()]
        if silent:
            said.append(
                f"{', '.join(silent)} did not answer and gave no files: look at the service there, and at firewalls "
                "between the hosts"
            )
        return said

    def bytes_to_fetch(self) -> int:
        """What still has to come over the network, files that need a look counted as there."""
        return sum(file.size - self._held_bytes(file) for file in self.survey.missing)

    def check_space(self) -> None:
        needed, free = self.bytes_to_fetch(), self.directory.free_bytes()
        if needed > free:
            raise TransferFailed(
                f"{self._wish.path} has {readable_bytes(free)} free and the download still needs "
                f"{readable_bytes(needed)}: free space there or name another path"
            )

    def check_access(self) -> None:
        """Whether the files can be had at all, before anything is done."""
        if self.survey.missing and not self._swarm:  # with others, this host may have nothing to ask the hub for
            self._sources.check_access(self.survey.missing[0])

    def locked(self) -> contextlib.AbstractContextManager[bool]:
        """Keep out other runs; gives False where one is at work right now."""
        return locked(self._wish.path)

    def advance(self) -> bool:
        """Work for one slice, with the directory locked; True once every file is verified and published."""
        self.unit.refuse_others()
        self.unit.attach()  # before the staging directory of another revision goes, which its session may write to
        self.directory.open_staging(self.manifest)
        self.unit.beat()
        try:
            self._adopt_twins()
            finished = self._transfer()
            self.directory.save_receipts()
        except (TransferFailed, OSError):
            self.unit.stop()
            with contextlib.suppress(OSError):  # a full disk, perhaps: the first error is the one to tell
                self.directory.save_receipts()
            raise
        if not finished:
            self.unit.beat()
            return False
        self.unit.stop(at_once=True)
        self.check_structure()
        if self.directory.publish(self.manifest, self.files):
            self.resume["changed"] = True
        return True

    def _adopt_twins(self) -> None:
        self.directory.adopt(self.survey.twins)
        for file in self.survey.twins:
            if self.directory.is_staged(file):
                self.survey.staged.append(file)
            else:
                self.survey.missing.append(file)
                self.resume["downloaded_bytes"] += file.size
        self.survey.twins = []

    def _transfer(self) -> bool:
        memory = load_memory(self.resume.get("memory", {}))
        jobs = [Job(file.path, file.size) for file in self.survey.unproven + self.survey.missing]
        ready = self.survey.current + self.survey.staged
        hash_threads = min(MAX_HASH_THREADS, os.cpu_count() or 1)
        with ThreadPoolExecutor(REQUEST_THREADS) as requests, ThreadPoolExecutor(hash_threads) as hashes:
            transfer = Transfer(self.commit, jobs, self._ports(requests, hashes), memory)
            try:
                finished = transfer.run(self._deadline)
            except BaseException:
                self._deadline = 0.0  # the workers end soon instead of finishing their files
                raise
        self.resume["memory"] = memory.dump()
        self.resume["mirrors_out"] = dict(self._sources.out)
        if self._swarm:
            self.resume["sources"] = self._swarm.dump()
            self.resume["shared_bytes"] += self._swarm.shared_bytes
            self.resume["unreached"] = sorted({*self.resume.get("unreached", []), *self._swarm.unreached})
        self.progress = progress_line(
            sum(file.size for file in ready) + transfer.held_bytes(),
            self.bytes,
            transfer.bytes_per_second,
            len(ready) + len(transfer.verified()),
            len(self.files),
            transfer.trouble(),
        )
        return finished

    def _survey(self) -> Survey:
        survey = Survey()
        for file in self.files:
            if self.directory.is_final(file):
                survey.current.append(file)
            elif self.directory.is_staged(file):
                survey.staged.append(file)
            elif self.directory.has_twin(file):
                survey.twins.append(file)
            elif self.directory.could_be_final(file):
                survey.unproven.append(file)
            else:
                survey.missing.append(file)
        return survey

    def _held_bytes(self, file: ManifestFile) -> int:
        return min(file.size, self.directory.look(file.path, file.size).held_bytes)

    def _ports(self, requests: ThreadPoolExecutor, hashes: ThreadPoolExecutor) -> Ports:
        return Ports(
            downloads=self.unit.downloads,
            add=self.unit.add,
            forget=self.unit.forget,
            remove=self.unit.remove,
            look=self._look,
            discard=self._discard,
            locate=self._locate,
            send=self._send,
            check=self._check_and_count,
            submit=self._alarm.rung_by(requests),
            submit_check=self._alarm.rung_by(hashes),
            clock=time.time,
            sleep=self._alarm.sleep,
        )

    def _look(self, path: str) -> OnDisk:
        if path in self._in_place:
            return OnDisk(True, self._by_path[path].size, self._by_path[path].size, False)
        return self.directory.look(path, self._by_path[path].size)

    def _discard(self, path: str) -> None:
        """Wrong content under the final name stays until the right one replaces it; a partial goes at once."""
        if path in self._in_place:
            self._in_place.discard(path)
            self.resume["downloaded_bytes"] += self._by_path[path].size
        else:
            self.directory.discard(path)

    def _locate(self, path: str) -> str | None:
        file = self._by_path[path]
        address = self._swarm.address(file) if self._swarm else None
        return address or self._sources.locate(file)

    def _send(self, path: str) -> bool:
        return self._sources.send(self._by_path[path], self.directory, self._is_late, self._budget)

    def _is_late(self) -> bool:
        return time.time() >= self._deadline

    def _place(self, path: str) -> str:
        return self.directory.final(path) if path in self._in_place else self.directory.staged(path)

    def _check_and_count(self, path: str) -> bool:
        right, file = self._check(path), self._by_path[path]
        if self._swarm:
            self._swarm.checked(file, right)
        if not right and path not in self._in_place:
            self._sources.found_wrong(file)
        with self._counting:
            self.resume["verified_files"] += right
        return right

    def _check(self, path: str) -> bool:
        """Hash one file; with the right digest also look at its structure and write its receipt."""
        file, place = self._by_path[path], self._place(path)
        with open(place, "rb") as stream:
            receipt = receipt_for(os.fstat(stream.fileno()), file.digest, self.commit)
            if digest_of(stream, kind_of(file.digest), receipt.size) != file.digest:
                return False
            # After a power cut a receipt must not speak for bytes that never reached the disk.
            os.fsync(stream.fileno())
            # Nor for bytes that somebody wrote while the file was read.
            if not receipt.covers(os.fstat(stream.fileno()), file.size, file.digest):
                return False
        if path.endswith(WEIGHTS_SUFFIX):
            self._header(path, place)
        self.directory.note_verified(path, place, receipt)
        return True

    def _header(self, path: str, place: str) -> Header:
        with open(place, "rb") as stream:

            def read_at(offset: int, length: int) -> bytes:
                return os.pread(stream.fileno(), length, offset)

            try:
                return read_header(read_at, os.fstat(stream.fileno()).st_size)
            except SafetensorsError as defect:
                if any(file.path == path for file in self.survey.current):
                    raise TransferFailed(
                        f"{place} was right when it got its receipt and is not now: {defect}. Run again with verify: full, "
                        "which fetches what is wrong, and look at the disk"
                    ) from None
                raise TransferFailed(
                    f"{path} is what {self._wish.repository} has at {self.commit}, but no reader can load it: {defect}. "
                    "Name another revision"
                ) from None

    def check_structure(self) -> None:
        """Every header, and every index against the shards beside it, in both directions; reads no tensor."""
        tensors = {
            file.path: self._header(file.path, self._verified_place(file)).tensors
            for file in self.files
            if file.path.endswith(WEIGHTS_SUFFIX)
        }
        for file in self.files:
            if file.path.endswith(INDEX_SUFFIX):
                self._check_index(file, tensors)

    def _check_index(self, index: ManifestFile, tensors: dict[str, tuple[str, ...]]) -> None:
        folder = index.path[: len(index.path) - len(os.path.basename(index.path))]
        beside = [file.path for file in self.manifest.files if file.path.startswith(folder)]
        absent = {path[len(folder) :] for path in beside if path not in self._by_path}
        shards = {path[len(folder) :]: tensors[path] for path in beside if path in tensors}
        try:
            with open(self._verified_place(index), "rb") as stream:
                defects = compare_index(parse_index(stream.read()), shards, absent)
        except WeightIndexError as defect:
            defects = [str(defect)]
        if defects:
            more = f" (and {len(defects) - 3} more)" if len(defects) > 3 else ""
            way_out = (
                "Run again with verify: full, which fetches what is wrong"
                if self.converged
                else "Name another revision"
            )
            raise TransferFailed(
                f"{index.path} of {self._wish.repository} at {self.commit} does not fit its shards: "
                f"{'; '.join(defects[:3])}{more}. {way_out}"
            )

    def _verified_place(self, file: ManifestFile) -> str:
        staged = self.directory.staged(file.path)
        return staged if os.path.isfile(staged) else self.directory.final(file.path)
