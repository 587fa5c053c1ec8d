# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hash many files at once, as fast as the processors and the disk allow, in slices.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, Mapping, NamedTuple, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.readable import readable_bytes
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.digests import digest_of

# One thread reads and hashes one file; more than this many only help where the disks are faster than 64 processors.
MAX_THREADS = 64


class Order(NamedTuple):
    """A file to hash; *kind* is "sha256" or "git-sha1"."""

    path: str
    place: str
    size: int
    kind: str


class Hashed(NamedTuple):
    """*digest*, or the *problem* that kept it from being made. The rest is the file as it was while it was read."""

    size: int
    mtime_ns: int
    inode: int
    digest: str
    problem: str = ""

    def covers(self, found: os.stat_result) -> bool:
        return (self.size, self.mtime_ns, self.inode) == (found.st_size, found.st_mtime_ns, found.st_ino)


class Hashing:
    """Hashes *orders*, the largest first so that no thread is left with one at the end.

    After *deadline* on *clock* no further file is begun, and those that were begun are finished: the state of a hash
    cannot be kept. *done* has the results by path, also those handed in from an earlier slice.
    """

    def __init__(self, orders: Sequence[Order], done: dict[str, Hashed], clock: Callable[[], float]) -> None:
        self._orders = sorted((order for order in orders if order.path not in done), key=lambda order: -order.size)
        self._clock = clock
        self._lock = threading.Lock()
        self.done = done
        self.bytes = 0

    def run(self, deadline: float, threads: int) -> bool:
        """Whether everything is hashed."""
        waiting = iter(self._orders)

        def work() -> None:
            while True:
                with self._lock:
                    order = next(waiting, None)
                if order is None:
                    return
                result = hash_file(order)
                with self._lock:
                    self.done[order.path] = result
                    self.bytes += 0 if result.problem else result.size
                # Asked after the first file, so that a slice that begins late still gets on.
                if self._clock() >= deadline:
                    return

        workers = max(1, min(threads, MAX_THREADS, len(self._orders)))
        with ThreadPoolExecutor(workers) as pool:
            for future in [pool.submit(work) for _worker in range(workers)]:
                future.result()
        self._orders = [order for order in self._orders if order.path not in self.done]
        return not self._orders


def default_threads() -> int:
    """The processors this process may use, which a container or a unit may have limited."""
    return min(MAX_THREADS, len(os.sched_getaffinity(0)))


def hash_file(order: Order) -> Hashed:
    try:
        with open(order.place, "rb", buffering=0) as stream:
            before = os.fstat(stream.fileno())
            _will_read_on(stream.fileno())
            digest = digest_of(stream, order.kind, before.st_size)
            after = os.fstat(stream.fileno())
    except OSError as error:
        return Hashed(0, 0, 0, "", f"it cannot be read: {error.strerror}")
    changed = (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns)
    problem = "it changed while it was read: something writes to it right now" if changed else ""
    return Hashed(before.st_size, before.st_mtime_ns, before.st_ino, digest, problem)


def _will_read_on(descriptor: int) -> None:
    """Ask the kernel to read ahead further than it does by itself."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_SEQUENTIAL)


def hash_progress(hashed: Mapping[str, Hashed], orders: Sequence[Order], bytes_per_second: float) -> str:
    """One line such as ``hashed 212 GiB of 590 GiB  36 %  1.9 GiB/s  61/163 files``."""
    total, done = sum(order.size for order in orders), sum(result.size for result in hashed.values())
    share = 100 * done // total if total else 100
    return (
        f"hashed {readable_bytes(done)} of {readable_bytes(total)}  {share} %  "
        f"{readable_bytes(bytes_per_second)}/s  {len(hashed)}/{len(orders)} files"
    )
