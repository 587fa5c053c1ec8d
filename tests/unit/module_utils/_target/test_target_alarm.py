# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever sleeps on an alarm is woken by work that is done, and by work that was done before."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from ansible_collections.inferops.sglang.plugins.module_utils._target.alarm import Alarm

FOR_EVER = 3600.0


def test_work_that_is_done_ends_the_sleep() -> None:
    alarm, awake = Alarm(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        future = alarm.rung_by(pool)(awake.wait, 60)
        threading.Timer(0.05, awake.set).start()
        alarm.sleep(FOR_EVER)
        assert future.done()


def test_work_that_failed_or_was_done_before_ends_it_too_but_only_once() -> None:
    alarm = Alarm()
    with ThreadPoolExecutor(1) as pool:
        alarm.rung_by(pool)(int, "no number")
    alarm.sleep(FOR_EVER)
    alarm.sleep(0.0)
