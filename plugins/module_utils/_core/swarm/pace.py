# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a host may send or fetch: a bucket that fills at a steady rate.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import threading
from typing import Callable

# What may leave at once after a pause: a fraction of a second, so that a limit holds also over short times.
BURST_SECONDS = 0.25


class Pace:
    """Shared by all transfers of a host. *bytes_per_second* 0 is no limit."""

    def __init__(self, bytes_per_second: int, clock: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._rate = bytes_per_second
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._free_at = clock()

    def change(self, bytes_per_second: int) -> None:
        with self._lock:
            self._rate = bytes_per_second

    def wait(self, count: int) -> None:
        """Return when *count* more bytes may leave."""
        with self._lock:
            if not self._rate:
                return
            now = self._clock()
            self._free_at = max(self._free_at, now - BURST_SECONDS) + count / self._rate
            pause = self._free_at - now
        if pause > 0:
            self._sleep(pause)
