# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One limit for two programs."""

from __future__ import annotations

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.budget import Budget
from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.pace import Pace


class Line:
    """aria2 at the end of a line, and a clock that only waiting moves."""

    def __init__(self, runs: bool) -> None:
        self.runs = runs
        self.told: list[int] = []
        self.now = 0.0
        self.pace = Pace(1000, lambda: self.now, self.sleep)

    def tell(self, bytes_per_second: int) -> bool:
        self.told.append(bytes_per_second)
        return self.runs

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize(("runs", "bytes_per_second"), [(True, 500), (False, 1000)])
def test_the_module_takes_half_while_aria2_runs(runs: bool, bytes_per_second: int) -> None:
    line = Line(runs)
    with Budget(1000, line.pace, line.tell).sending() as wait:
        for _chunk in range(10):
            wait(1000)
    assert line.told == [500, 1000]
    assert 10_000 / line.now == pytest.approx(bytes_per_second, rel=0.05)


def test_aria2_has_everything_again_after_the_last_file_even_where_one_failed() -> None:
    line = Line(True)
    budget = Budget(1000, line.pace, line.tell)
    with budget.sending(), pytest.raises(OSError), budget.sending():
        raise OSError
    assert line.told == [500, 500, 500, 1000]


def test_without_a_limit_nobody_is_told_anything() -> None:
    line = Line(True)
    with Budget(0, Pace(0, lambda: 0.0, line.sleep), line.tell).sending() as wait:
        wait(1 << 40)
    assert (line.told, line.now) == ([], 0.0)
