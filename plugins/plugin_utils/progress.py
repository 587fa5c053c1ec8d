# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One progress line a host, at a pace a person can read.

Note that this plugin util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import time
from typing import Any, Callable


class Progress:
    """Print what a long task is doing on one host, as ``b300-01  loading weights 26/64 shards``.

    *display* is Ansible's ``Display``: from there a line reaches a terminal, a log and AWX alike, while the
    task still runs. *clock* counts seconds and never goes back.
    """

    def __init__(
        self,
        display: Any,
        host: str,
        clock: Callable[[], float] = time.monotonic,
        interval_seconds: float = 15.0,
    ) -> None:
        self._display = display
        self._host = host
        self._clock = clock
        self._interval_seconds = interval_seconds
        self._last_text: str | None = None
        self._last_at = 0.0

    def line(self, text: str, force: bool = False) -> bool:
        """Print *text* if it is the first line, or if *interval_seconds* have passed since the last one.

        *force* is for a change of state, which nobody should wait for: it is printed at once, unless the
        same words stand there already. Returns whether a line was printed.
        """
        now = self._clock()
        first = self._last_text is None
        due = now - self._last_at >= self._interval_seconds
        changed = text != self._last_text
        if not (first or due or (force and changed)):
            return False
        self._display.display(f"{self._host}  {text}")
        self._last_text = text
        self._last_at = now
        return True
