# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One limit for a host's download, although two programs take part in it.

aria2 has all of it, but for the moments in which the module fetches small files itself: then each has one half.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import threading
from typing import Callable, Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.pace import Pace


class Budget:
    """*tell_aria2(bytes_per_second)* returns whether aria2 runs; where it does not, the module may take everything."""

    def __init__(self, bytes_per_second: int, pace: Pace, tell_aria2: Callable[[int], bool]) -> None:
        self._limit = bytes_per_second
        self._pace = pace
        self._tell_aria2 = tell_aria2
        self._lock = threading.Lock()
        self._senders = 0

    @contextlib.contextmanager
    def sending(self) -> Iterator[Callable[[int], None]]:
        """Gives what waits until so many more bytes may be taken."""
        self._count(1)
        try:
            yield self._pace.wait
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        if not self._limit:
            return
        with self._lock:
            self._senders += more
            half = max(1, self._limit // 2)
            aria2_runs = self._tell_aria2(half if self._senders else self._limit)
            self._pace.change(half if aria2_runs else self._limit)
