# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a lab started is found again and ended, and nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lab.shell import Process, stop_recorded


def started(record: Path) -> Process:
    process = Process(record)
    record.parent.mkdir(exist_ok=True)
    process.start("sleep", "600", log=record.with_name("log"))
    return process


@pytest.fixture
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A process of somebody else, who got an id that a record of the lab still names."""
    process = started(tmp_path_factory.mktemp("elsewhere") / "pid")
    yield process
    process.stop()


@pytest.mark.parametrize("place", ["hub/pid", "bench-hub/pid", "controllers/first.pid"])
def test_every_recorded_process_is_stopped_whoever_started_it(tmp_path: Path, place: str) -> None:
    process = started(tmp_path / place)
    assert process.pid
    stop_recorded(tmp_path)
    assert not process.pid
    assert not process.record.exists()


def test_a_process_that_only_has_the_id_of_a_record_is_left_alone(tmp_path: Path, stranger: Process) -> None:
    record = tmp_path / "hub" / "pid"
    record.parent.mkdir()
    record.write_text(f"{stranger.pid} 1\n")
    stop_recorded(tmp_path)
    assert stranger.pid


def test_a_record_that_was_cut_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub" / "pid").write_text("12")
    stop_recorded(tmp_path)
    assert not (tmp_path / "hub" / "pid").exists()
