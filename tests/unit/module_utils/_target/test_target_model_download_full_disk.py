# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file system that is really full: a small tmpfs, enough for the model until somebody else writes there."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path
from typing import Iterator

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.disk import explain
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed
from unit.module_utils._target.download_bench import Bench, hurry, needs_aria2c, open_bench

pytestmark = needs_aria2c
DISK_BYTES = 10 << 20


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    hurry(monkeypatch)
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "inferops-test", str(disk)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"mounting is refused here: {mounted.stderr.strip()}")
    try:
        with open_bench(tmp_path, monkeypatch) as bench:
            bench.target = disk / "target"
            yield bench
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def fill(bench: Bench, left_bytes: int = 0) -> Path:
    """Somebody else writes until *left_bytes* are left, or none at all."""
    hog = bench.target.parent / "hog"
    space = os.statvfs(bench.target.parent)
    with hog.open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, space.f_bavail * space.f_frsize - left_bytes)
    return hog


@contextlib.contextmanager
def full(bench: Bench) -> Iterator[None]:
    """What happens ends with the one sentence about a full disk."""
    with pytest.raises(OSError) as error:
        yield
    said = explain(str(bench.target), error.value)
    assert said.startswith(
        f"The disk of {bench.target} is full (No space left on device): free space there and run again"
    )


def assert_finishes(bench: Bench, hog: Path) -> None:
    assert bench.finished() == []
    assert bench.units.processes == {}
    hog.unlink()
    bench.download()
    bench.assert_same()


def test_a_disk_that_is_filled_while_aria2_writes(bench: Bench) -> None:
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 600_000, "count": -1})
    bench.target.mkdir()
    download = bench.plan(slice_seconds=8.0)
    download.check_space()
    with download.locked():
        assert not download.advance()
    bench.pair.control.clear_faults()
    hog = fill(bench, left_bytes=512 * 1024)
    with full(bench):
        bench.download(resume=download.resume)
    assert_finishes(bench, hog)


def test_the_space_is_asked_of_the_file_system_and_what_is_there_counts(bench: Bench) -> None:
    bench.target.mkdir()
    hog = fill(bench, left_bytes=4 << 20)
    with pytest.raises(
        TransferFailed, match=r"has 4\.0 MiB free and the download still needs 4\.8 MiB: free space there"
    ):
        bench.plan().check_space()
    assert list(bench.target.iterdir()) == []
    hog.unlink()
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 600_000, "count": -1})
    download = bench.plan(slice_seconds=8.0)
    with download.locked():
        assert not download.advance()
    for unit in list(bench.units.processes):
        bench.units.stop(unit)
    bench.pair.control.clear_faults()
    needed = bench.plan().bytes_to_fetch()
    assert 0 < needed < 4 << 20
    hog = fill(bench, left_bytes=needed + (256 << 10))
    bench.download()
    bench.assert_same()
    assert hog.exists()


def test_a_disk_that_is_filled_before_the_module_itself_writes(bench: Bench) -> None:
    bench.target.mkdir()
    (bench.repository / "tokenizer.json").write_bytes(os.urandom(2_000_000))
    download = bench.plan(include=["tokenizer.json"])
    download.check_space()
    hog = fill(bench, left_bytes=1 << 20)
    with download.locked(), full(bench):
        download.advance()
    assert_finishes(bench, hog)


def test_a_disk_without_a_single_byte_for_the_records(bench: Bench) -> None:
    bench.target.mkdir()
    download = bench.plan()
    download.check_space()
    hog = fill(bench)
    with download.locked(), full(bench):
        download.advance()
    assert_finishes(bench, hog)


def test_a_disk_that_is_filled_at_the_very_end(bench: Bench) -> None:
    """All is verified and nothing more than names and records are missing."""
    bench.target.mkdir()
    download = bench.plan()
    publish = download.directory.publish
    hogs = []

    def filled(*arguments: object) -> bool:
        hogs.append(fill(bench))
        return publish(*arguments)  # type: ignore[arg-type]

    download.directory.publish = filled  # type: ignore[method-assign,assignment]
    with download.locked(), full(bench):
        download.advance()
    assert bench.units.processes == {}
    for name in bench.finished():  # each has its name by right
        assert (bench.target / name).read_bytes() == (bench.repository / name).read_bytes()
    bench.pair.control.clear_requests()
    hogs[0].unlink()
    bench.download()
    bench.assert_same()
    assert bench.counts()["cdn_requests"] == 0
