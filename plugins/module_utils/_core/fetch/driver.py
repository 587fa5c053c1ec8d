# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drive a transfer: locate, queue, watch, retry and check each file until all are verified.

The driver keeps no state of its own between slices. What it finds in aria2 and on the disk is the truth, so a
later run, also one after a crash, takes over where the last one stood.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import errno
import re
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.memory import (
    DISK_FULL_CODE,
    OTHER_PIECES_CODE,
    REFUSAL_CODES,
    Memory,
    fatal_reason,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import gid_of
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.readable import readable_seconds
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.rpc import Status

# Files handed to aria2 ahead of time, so that the transfer goes on while nobody drives it.
QUEUE_AHEAD_FILES = 128
# How often aria2 is asked, and how often where a file is about to be complete.
TICK_SECONDS = 0.2
SHORT_TICK_SECONDS = 0.05
# Without one new byte for this long the transfer has stalled, whatever the reason.
STALL_SECONDS = 900.0
# A signed address that is older than this may have expired while the file waited for its turn in aria2.
FRESH_SECONDS = 60.0

WANTED, LOCATING, QUEUED, SENDING, UNCHECKED, CHECKING, VERIFIED = range(7)
_ADDRESS = re.compile(r"https?://\S+")


class TransferFailed(Exception):  # noqa: N818  reads better where it is raised
    """The transfer cannot go on; the message names the file, the reason and the way out."""


class SourceFailed(Exception):  # noqa: N818
    """A file could not be located or sent; *final* where another attempt cannot help."""

    def __init__(self, message: str, final: bool = False, wait_seconds: float = 0.0) -> None:
        super().__init__(message)
        self.final = final
        self.wait_seconds = wait_seconds


class NotYet(Exception):  # noqa: N818
    """Another host fetches the file first; it is asked for again after *wait_seconds*, however often that takes."""

    def __init__(self, wait_seconds: float) -> None:
        super().__init__("another host fetches the file first")
        self.wait_seconds = wait_seconds


class SessionLost(Exception):  # noqa: N818
    """aria2c does not answer any more."""


@dataclass(frozen=True)
class Job:
    path: str
    size: int


@dataclass(frozen=True)
class OnDisk:
    """What is there of a file: *held_bytes* really written; *resumable* where aria2's control file stands beside it."""

    exists: bool = False
    size: int = 0
    held_bytes: int = 0
    resumable: bool = False


@dataclass
class Ports:
    """Everything the driver needs of the world.

    *locate*, *send* and *check* run in worker threads: *locate(path)* gives an address for aria2, or None where
    the hub sends the file itself, and raises NotYet where that is for later; *send(path)* fetches such a file and
    returns False where it had to stop early;
    *check(path)* returns whether the content is right, and raises TransferFailed where right content is useless.
    """

    downloads: Callable[[], Mapping[str, Status]]  # by gid; SessionLost
    add: Callable[[str, str, str], None]  # gid, path, address; SessionLost, SourceFailed
    forget: Callable[[str], None]
    remove: Callable[[str], None]
    look: Callable[[str], OnDisk]
    discard: Callable[[str], None]
    locate: Callable[[str], Any]
    send: Callable[[str], bool]
    check: Callable[[str], bool]
    submit: Callable[..., Any]  # like Executor.submit, for requests
    submit_check: Callable[..., Any]  # the same, for hashing
    clock: Callable[[], float]
    sleep: Callable[[float], None]  # may end early, when one of the workers has done its work


@dataclass
class _File:
    job: Job
    state: int = WANTED
    held_bytes: int = 0
    future: Any = None
    suspect: bool = False  # found on disk without proof of completeness: wrong content is no surprise
    turn_at: float = 0.0  # when another host may have it


class Transfer:
    def __init__(self, commit: str, jobs: Sequence[Job], ports: Ports, memory: Memory) -> None:
        self._ports = ports
        self._files = {job.path: _File(job) for job in jobs}
        self._gids = {path: gid_of(commit, path) for path in self._files}
        self._memory = memory
        self._known: set[str] = set()  # gids that aria2 remembers
        self._tick = TICK_SECONDS
        self.bytes_per_second = 0

    def held_bytes(self) -> int:
        return sum(file.held_bytes for file in self._files.values())

    def verified(self) -> list[str]:
        return [path for path, file in self._files.items() if file.state == VERIFIED]

    def trouble(self) -> str:
        """Where nothing is under way, the failure after which the transfer waits; otherwise nothing."""
        waits = all(file.state in (WANTED, LOCATING, VERIFIED) for file in self._files.values())
        return self._memory.trouble if waits and len(self.verified()) < len(self._files) else ""

    def run(self, deadline: float) -> bool:
        """Work until all is verified (True) or *deadline* has passed (False); raises TransferFailed, or OSError for the disk.

        Past the deadline nothing new begins, but a file that is being hashed is hashed to its end.
        """
        try:
            return self._run(deadline)
        finally:
            self._call_back()

    def _run(self, deadline: float) -> bool:
        self._take_over()
        while True:
            late = self._ports.clock() >= deadline
            self._reap()
            self._watch()
            if all(file.state == VERIFIED for file in self._files.values()):
                return True
            if late:
                self._call_back()
                if not any(file.future for file in self._files.values()):
                    return False
            else:
                self._launch()
                self._refuse_to_stall()
            self._ports.sleep(self._tick)

    def _take_over(self) -> None:
        """Find out where each file stands: aria2's word first, then what is on the disk."""
        statuses = self._statuses()
        for path, file in self._files.items():
            status = statuses.get(self._gids[path])
            if status is None or status.state in ("error", "removed"):
                self._look(file)  # an old failure is no verdict: its reason may be gone
            elif status.state == "complete":
                file.state, file.held_bytes = UNCHECKED, file.job.size
            else:
                file.state = QUEUED

    def _look(self, file: _File) -> None:
        found = self._ports.look(file.job.path)
        file.state, file.held_bytes, file.suspect = WANTED, 0, False
        if not found.exists or found.resumable:
            file.held_bytes = min(found.held_bytes, file.job.size)
        elif found.size == file.job.size:
            file.state, file.held_bytes, file.suspect = UNCHECKED, file.job.size, True
        else:
            self._ports.discard(file.job.path)

    def _statuses(self) -> Mapping[str, Status]:
        try:
            statuses = self._ports.downloads()
        except SessionLost:
            self._lose_session()
            return {}
        self._known = set(statuses)
        return statuses

    def _lose_session(self) -> None:
        """aria2c died: its control files say what is there, a new one goes on from them."""
        self._known.clear()
        for file in self._files.values():
            if file.state == QUEUED:
                self._look(file)
        if self._memory.of("").failed(self.held_bytes(), self._ports.clock()):
            raise TransferFailed(
                "aria2c ended again and again without fetching anything: look at the journal of its unit, "
                "and at the kernel's log for the out-of-memory killer"
            )

    def _reap(self) -> None:
        for file in self._files.values():
            if file.future is None or not file.future.done():
                continue
            future, file.future = file.future, None
            if future.cancelled():
                file.state = UNCHECKED if file.state == CHECKING else WANTED
                continue
            try:
                result = future.result()
            except SourceFailed as error:
                self._failed(file, str(error), error.final, error.wait_seconds)
                continue
            except NotYet as turn:
                file.state, file.turn_at = WANTED, self._ports.clock() + turn.wait_seconds
                continue
            if file.state == LOCATING:
                self._located(file, result)
            elif file.state == SENDING:
                file.state = UNCHECKED if result else WANTED
                self._note_held(file, file.job.size if result else file.held_bytes)
            else:
                self._checked(file, result)

    def _located(self, file: _File, address: str | None) -> None:
        path = file.job.path
        if address is None:
            file.state, file.future = SENDING, self._ports.submit(self._ports.send, path)
            return
        gid = self._gids[path]
        try:
            if gid in self._known:
                self._ports.forget(gid)
            self._ports.add(gid, path, address)
        except SessionLost:
            file.state = WANTED
            self._lose_session()
            return
        except SourceFailed as error:
            self._failed(file, str(error), error.final)
            return
        self._known.add(gid)
        self._memory.given_at[path] = self._ports.clock()
        file.state = QUEUED

    def _checked(self, file: _File, right: bool) -> None:
        if right:
            file.state = VERIFIED
            self._memory.given_at.pop(file.job.path, None)
            return
        self._ports.discard(file.job.path)
        self._forget(file)
        file.held_bytes, file.state = 0, WANTED
        if file.suspect:
            file.suspect = False
            return
        if self._memory.of(file.job.path).wiped:
            raise TransferFailed(
                f"{file.job.path} arrived twice with content that is not what the hub's listing says; both were thrown "
                "away. Something on the way changes it: name another endpoint, or look for a caching proxy"
            )
        self._memory.of(file.job.path).wiped = True

    def _watch(self) -> None:
        """Follow what aria2 does with the files it was given."""
        if not any(file.state == QUEUED for file in self._files.values()):
            self.bytes_per_second, self._tick = 0, TICK_SECONDS
            return
        statuses = self._statuses()
        self.bytes_per_second = sum(status.bytes_per_second for status in statuses.values())
        next_end = min((status.seconds_left for status in statuses.values()), default=TICK_SECONDS)
        self._tick = max(SHORT_TICK_SECONDS, min(TICK_SECONDS, next_end))
        for path, file in self._files.items():
            if file.state != QUEUED:
                continue
            status = statuses.get(self._gids[path])
            if status is None:
                self._look(file)
            elif status.state == "complete":
                file.state, file.suspect = UNCHECKED, False
                self._note_held(file, file.job.size)
            elif status.state in ("error", "removed"):
                self._note_held(file, status.completed_bytes)
                self._ended(file, status)
            elif status.total_bytes not in (0, file.job.size):
                self._ports.remove(status.gid)
                self._ports.discard(path)
                self._failed(file, f"{status.total_bytes} bytes are offered, not the {file.job.size} of the listing")
            else:
                self._note_held(file, status.completed_bytes)

    def _ended(self, file: _File, status: Status) -> None:
        """aria2 has given up on a file."""
        code, path = status.error_code, file.job.path
        if code == DISK_FULL_CODE:
            raise OSError(errno.ENOSPC, "No space left on device")
        if code in REFUSAL_CODES and self._ports.clock() - self._memory.given_at.get(path, 0.0) > FRESH_SECONDS:
            file.state = WANTED  # with a fresh address, and nobody to blame
            return
        if code == OTHER_PIECES_CODE:
            self._ports.discard(path)
            file.held_bytes = 0
        reason = fatal_reason(code)
        said = _ADDRESS.sub("<address>", status.error_message)
        self._failed(file, reason or f"aria2 error {code}: {said}", reason is not None)

    def _note_held(self, file: _File, held_bytes: int) -> None:
        # A file that waits for its turn reports 0 although its control file knows better.
        file.held_bytes = max(file.held_bytes, min(held_bytes, file.job.size))

    def _failed(self, file: _File, reason: str, final: bool = False, wait_seconds: float = 0.0) -> None:
        attempts = self._memory.of(file.job.path)
        give_up = attempts.failed(file.held_bytes, self._ports.clock(), wait_seconds)
        file.state, self._memory.trouble = WANTED, f"{file.job.path}: {reason}"
        if final:
            raise TransferFailed(f"Cannot fetch {file.job.path}: {reason}")
        if give_up:
            raise TransferFailed(
                f"Cannot fetch {file.job.path}: {reason}; {attempts.fruitless} attempts in a row "
                f"over {readable_seconds(self._ports.clock() - attempts.fruitless_since)} brought nothing new. "
                "What is there is kept: run again to go on"
            )

    def _forget(self, file: _File) -> None:
        gid = self._gids[file.job.path]
        if gid in self._known:
            self._known.discard(gid)
            try:
                self._ports.forget(gid)
            except SessionLost:
                self._lose_session()

    def _launch(self) -> None:
        now = self._ports.clock()
        if self._memory.of("").not_before > now:
            return
        busy = sum(file.state in (LOCATING, QUEUED, SENDING) for file in self._files.values())
        for path, file in self._files.items():
            if file.state == UNCHECKED:
                file.state, file.future = CHECKING, self._ports.submit_check(self._ports.check, path)
            elif file.state == WANTED and self._earliest(file) <= now and busy < QUEUE_AHEAD_FILES:
                file.state, file.future = LOCATING, self._ports.submit(self._ports.locate, path)
                busy += 1

    def _earliest(self, file: _File) -> float:
        return max(file.turn_at, self._memory.of(file.job.path).not_before)

    def _call_back(self) -> None:
        """Past the deadline: what has not begun in a worker waits for the next slice."""
        for file in self._files.values():
            if file.future is not None and file.state in (CHECKING, LOCATING):
                file.future.cancel()

    def _refuse_to_stall(self) -> None:
        memory, now, held = self._memory, self._ports.clock(), self.held_bytes()
        busy = any(file.state == CHECKING or file.turn_at > now for file in self._files.values())
        if memory.moved_at is None or held != memory.held_bytes or busy:
            memory.moved_at, memory.held_bytes = now, held
        elif now - memory.moved_at > STALL_SECONDS:
            trouble = f" (the last trouble was with {memory.trouble})" if memory.trouble else ""
            raise TransferFailed(
                f"Nothing arrived for {STALL_SECONDS:.0f} s{trouble}. What is there is kept: look at the network, "
                "then run again"
            )
