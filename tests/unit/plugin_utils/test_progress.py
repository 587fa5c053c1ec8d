# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A progress line appears at once on a change of state, and otherwise at a readable pace."""

from __future__ import annotations

import pytest
from ansible_collections.inferops.sglang.plugins.plugin_utils.progress import Progress


class Screen:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def display(self, text: str) -> None:
        self.lines.append(text)


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_names_the_host_and_prints_the_first_line_at_once(screen: Screen, clock: Clock) -> None:
    assert Progress(screen, "b300-01", clock).line("12 %")
    assert screen.lines == ["b300-01  12 %"]


def test_holds_back_numbers_that_merely_moved_until_the_interval_is_over(screen: Screen, clock: Clock) -> None:
    progress = Progress(screen, "h", clock, interval_seconds=15)
    for second in range(31):
        clock.now = 1000.0 + second
        progress.line(f"{second} s")
    assert screen.lines == ["h  0 s", "h  15 s", "h  30 s"]


def test_prints_a_change_of_state_at_once_and_only_once(screen: Screen, clock: Clock) -> None:
    progress = Progress(screen, "h", clock)
    progress.line("loading")
    assert progress.line("warming up", force=True)
    assert not progress.line("warming up", force=True)
    assert screen.lines == ["h  loading", "h  warming up"]


def test_repeats_an_unchanged_line_after_the_interval_so_that_silence_never_looks_like_a_hang(
    screen: Screen, clock: Clock
) -> None:
    progress = Progress(screen, "h", clock)
    progress.line("loading")
    clock.now += 15
    assert progress.line("loading")
