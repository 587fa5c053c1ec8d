# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sleep that ends early when a worker thread has done its work.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future
from typing import Any, Callable


class Alarm:
    def __init__(self) -> None:
        self._rung = threading.Event()

    def rung_by(self, executor: Executor) -> Callable[..., Future[Any]]:
        """The submit() of *executor*, whose work wakes whoever sleeps when it is done."""

        def submit(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
            future = executor.submit(work, *arguments)
            future.add_done_callback(lambda _future: self._rung.set())
            return future

        return submit

    def sleep(self, seconds: float) -> None:
        self._rung.wait(seconds)
        self._rung.clear()
