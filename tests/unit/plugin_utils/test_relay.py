# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Chunks reach the target in order and completely, and a failure on either side ends both."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.inferops.sglang.plugins.plugin_utils.relay import WAITING, Chunk, at_once, chunks, relay

TASK: contextvars.ContextVar[str] = contextvars.ContextVar("TASK")


@pytest.fixture
def take(tmp_path: Path) -> Callable[[Chunk], str]:
    def fetch(part: Chunk) -> str:
        path = tmp_path / str(part.offset)
        path.write_text(str(part.length))
        return str(path)

    return fetch


@pytest.mark.parametrize(
    ("total", "length", "expected"), [(0, 4, []), (4, 4, [(0, 4)]), (9, 4, [(0, 4), (4, 4), (8, 1)])]
)
def test_chunks_cover_everything_once(total: int, length: int, expected: list[tuple[int, int]]) -> None:
    assert list(chunks(total, length)) == expected


def test_all_chunks_arrive_in_order_and_nothing_stays_here(take: Callable[[Chunk], str], tmp_path: Path) -> None:
    arrived: list[tuple[int, str]] = []
    finished: list[int] = []
    relay(
        chunks(100, 7),
        take,
        lambda part, path: arrived.append((part.offset, Path(path).read_text())),
        lambda part: finished.append(part.offset),
    )
    assert arrived == [(offset, str(min(7, 100 - offset))) for offset in range(0, 100, 7)]
    assert finished == list(range(0, 100, 7))
    assert os.listdir(tmp_path) == []


def test_the_slower_half_holds_the_faster_one_back(take: Callable[[Chunk], str], tmp_path: Path) -> None:
    most = 0

    def give(_part: Chunk, _path: str) -> None:
        nonlocal most
        most = max(most, len(os.listdir(tmp_path)))

    relay(chunks(100, 1), take, give, lambda _part: None)
    assert most <= WAITING + 2  # one is being given, one is being taken


def test_a_failure_of_the_reference_is_raised(take: Callable[[Chunk], str], tmp_path: Path) -> None:
    def fail(part: Chunk) -> str:
        if part.offset == 20:
            raise ConnectionError("the reference went away")
        return take(part)

    with pytest.raises(ConnectionError, match="the reference went away"):
        relay(chunks(100, 10), fail, lambda _part, _path: None, lambda _part: None)
    assert os.listdir(tmp_path) == []
    assert "relay" not in [thread.name for thread in threading.enumerate()]


def test_a_failure_of_the_target_ends_the_fetching(take: Callable[[Chunk], str]) -> None:
    taken: list[int] = []

    def count(part: Chunk) -> str:
        taken.append(part.offset)
        return take(part)

    def fail(_part: Chunk, _path: str) -> None:
        raise ConnectionError("the target went away")

    with pytest.raises(ConnectionError, match="the target went away"):
        relay(chunks(1000, 1), count, fail, lambda _part: None)
    assert len(taken) < 10
    assert "relay" not in [thread.name for thread in threading.enumerate()]


def test_both_halves_run_at_once_and_see_the_running_task() -> None:
    TASK.set("venv_sync")
    met = threading.Barrier(2, timeout=10)

    def half() -> tuple[str, bool]:
        met.wait()  # only passes if the other half runs meanwhile
        return TASK.get(), threading.current_thread() is threading.main_thread()

    assert at_once(half, half) == (("venv_sync", False), ("venv_sync", True))
