# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Syslog stamps have no year; the order of the lines says when one begins."""

from __future__ import annotations

from datetime import datetime

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.engine import diagnose
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.saved import read_log

DAY = 86400.0


def seconds(*stamps: str, form: str = "{} host python[9]: text") -> list[float]:
    """The times of a log with these stamps, counted from its first line."""
    times = [entry.time for entry in read_log("\n".join(form.format(stamp) for stamp in stamps).encode())]
    first = times[0]
    assert first is not None
    return [round(time - first, 6) for time in times if time is not None]


@pytest.mark.parametrize(
    ("stamps", "after"),
    [
        pytest.param(("Dec 31 23:59:59", "Jan  1 00:00:00", "Jan  1 00:00:01"), [0, 1, 2], id="over New Year"),
        pytest.param(("Dec 31 23:59:59.25", "Jan  1 00:00:00.5"), [0, 1.25], id="over New Year, precise"),
        pytest.param(("Dec 30 12:00:00", "Jan  2 12:00:00"), [0, 3 * DAY], id="quiet over New Year"),
        pytest.param(("Nov 30 00:00:00", "Feb  1 00:00:00"), [0, 63 * DAY], id="quiet for two months"),
        pytest.param(
            ("Dec 31 23:59:58", "Jan  1 00:00:01", "Dec 31 23:59:59", "Jan  1 00:00:02", "Dec 31 23:59:58"),
            [0, 3, 1, 4, 0],
            id="lines that came late at midnight",
        ),
        pytest.param(("Jan  1 00:00:01", "Dec 31 23:59:59", "Jan  1 00:00:02"), [0, -2, 1], id="the first came early"),
        pytest.param(
            ("Dec 31 00:00:00", "Jan  1 00:00:00", "Dec 31 00:00:00", "Jan  1 00:00:00"),
            [0, DAY, 366 * DAY, 367 * DAY],
            id="twice over New Year",
        ),
        pytest.param(("Jan  1 00:00:00", "Dec 31 22:00:00"), [0, 365 * DAY + 22 * 3600], id="a year and no New Year"),
        pytest.param(("Nov 30 10:00:01", "Nov 30 10:00:00", "Nov 30 10:00:02"), [0, -1, 1], id="no New Year"),
        pytest.param(("Jun 30 00:00:00", "May 30 00:00:00"), [0, -31 * DAY], id="a clock that was set back"),
        pytest.param(("Feb 28 00:00:00", "Feb 29 00:00:00", "Mar  1 00:00:00"), [0, DAY, 2 * DAY], id="a leap day"),
    ],
)
def test_the_year_follows_from_the_order_of_the_lines(stamps: tuple[str, ...], after: list[float]) -> None:
    assert seconds(*stamps) == after


def test_a_line_without_a_stamp_has_that_of_the_line_before_it() -> None:
    log = b"Dec 31 23:59:59 host python[9]: one\nJan  1 00:00:01 host python[9]: two\n  File x\n"
    first, *others = (entry.time or 0.0 for entry in read_log(log))
    assert [time - first for time in others] == [2, 2]


def test_stamps_with_a_year_keep_it() -> None:
    """A clock that was wrong for years is no New Year."""
    stamps = ("2026-12-31T23:59:59+0000", "2026-01-01T00:00:00+0000")
    there, here = (datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S%z").timestamp() for stamp in stamps)
    assert seconds(*stamps) == [0, here - there]


def test_the_first_failure_is_the_cause_also_over_new_year() -> None:
    """Two ranks fail, one in each year; the other's failure is what follows from the first."""
    crash = (
        "{stamp} host python[{pid}]: [{own} TP{rank}] Scheduler hit an exception: Traceback (most recent call last):\n"
        '{stamp} host python[{pid}]:   File "/opt/sglang/x.py", line 1, in run\n'
        "{stamp} host python[{pid}]: {error}\n"
    )
    first = crash.format(stamp="Dec 31 23:59:58", own="2026-12-31 23:59:58", pid=8, rank=0, error="KeyError: 'first'")
    second = crash.format(stamp="Jan  1 00:00:01", own="2027-01-01 00:00:01", pid=9, rank=1, error="KeyError: 'late'")
    assert "KeyError: 'first'" in diagnose(read_log((first + second).encode()))["cause_line"]
