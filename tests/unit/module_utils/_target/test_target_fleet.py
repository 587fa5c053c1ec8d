# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several hosts that download one model together: the local hub, a real aria2c and a real seed program a host.

Each host is a loopback address and a directory; only systemd is played.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import shutil
import socket
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator, Mapping

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import Settings
from ansible_collections.inferops.sglang.plugins.module_utils._target import aria2_unit, seed_unit
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_download import ModelDownload, Wish
from ansible_collections.inferops.sglang.plugins.module_utils._target.seed_unit import SeedUnit
from ansible_collections.inferops.sglang.plugins.module_utils._target.swarm import Group
from ansible_collections.inferops.sglang.plugins.module_utils._target.web import Web, without_proxy
from hub.__main__ import Pair

ARIA2C = shutil.which("aria2c")
KEY = "k" * 40
SHARDS = 8
pytestmark = pytest.mark.skipif(ARIA2C is None, reason="needs aria2c (Debian package aria2)")


class Units:
    """systemd in small: one process a unit."""

    def __init__(self) -> None:
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __call__(self, command: list[str]) -> tuple[int, str, str]:
        if command[0] == "systemd-run":
            unit = next(word[len("--unit=") :] for word in command if word.startswith("--unit="))
            self.processes[unit] = subprocess.Popen(command[command.index("--") + 1 :], stdout=subprocess.DEVNULL)
        elif command[:2] == ["systemctl", "stop"]:
            for unit in [unit for unit in self.processes if fnmatch.fnmatch(unit, command[-1])]:
                process = self.processes.pop(unit)
                process.kill()
                process.wait()
        return 0, "", ""


class Fleet:
    """A hub with one model, and hosts by number; each has a loopback address and a directory of its own."""

    def __init__(self, root: Path, pair: Pair, units: Units) -> None:
        self.root, self.pair, self.units = root, pair, units
        self.repository = root / "hub" / "org" / "model"
        self.seats: dict[int, str] = {}

    def seed(self, number: int) -> None:
        digest = hashlib.sha256(KEY.encode()).hexdigest()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            first = probe.getsockname()[1]
        unit = SeedUnit(self.units, str(self.path(number)))
        self.seats[number] = unit.start(f"127.0.0.{number + 1}", range(first, first + 20), 0, digest)

    def path(self, number: int) -> Path:
        return self.root / f"host{number}"

    def download(
        self, number: int, side_by_side: bool = False, proxies: Mapping[str, str] | None = None
    ) -> ModelDownload:
        group = Group(KEY, [self.seats[seat] for seat in sorted(self.seats)], self.seats[number])
        wish = Wish(
            repository="org/model",
            revision="main",
            path=str(self.path(number)),
            endpoint=self.pair.url,
            token="",
            include=[],
            exclude=[],
            verify="receipts",
            slice_seconds=60.0,
            resume={},
            group=group,
            side_by_side=side_by_side,
        )
        settings = Settings(ARIA2C or "", 4, 4, proxies=without_proxy(proxies or {}, group.names))
        download = ModelDownload(wish, Web(True, None, proxies), self.units, settings)
        self.path(number).mkdir(exist_ok=True)
        with download.locked():
            assert download.advance()
        return download

    def download_all(self, numbers: list[int]) -> list[ModelDownload]:
        with ThreadPoolExecutor(len(numbers)) as pool:
            return list(pool.map(self.download, numbers))

    def sent_by_origin(self) -> int:
        counts = self.pair.control.requests()["counts"]
        return int(counts["cdn_bytes"])

    def size(self) -> int:
        return sum(file.stat().st_size for file in self.repository.glob("*.safetensors"))

    def assert_right(self, number: int) -> None:
        for file in self.repository.iterdir():
            assert (self.path(number) / file.name).read_bytes() == file.read_bytes(), file.name


def shard(tensor: str, size: int) -> bytes:
    header = json.dumps({tensor: {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(header)) + header + os.urandom(size)


@pytest.fixture
def fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fleet]:
    repository = tmp_path / "hub" / "org" / "model"
    repository.mkdir(parents=True)
    for number in range(SHARDS):
        (repository / f"model-{number:05d}-of-{SHARDS:05d}.safetensors").write_bytes(shard(f"t{number}", 300_000))
    (repository / "config.json").write_text("{}")
    monkeypatch.setattr(aria2_unit, "RUNTIME_ROOT", str(tmp_path / "run-aria2"))
    monkeypatch.setattr(seed_unit, "RUNTIME_ROOT", str(tmp_path / "run-seed"))
    pair, units = Pair(tmp_path / "hub", "127.0.0.1", 0, 0, []), Units()
    pair.start()
    yield Fleet(tmp_path, pair, units)
    units(["systemctl", "stop", "*"])
    pair.stop()


def test_empty_hosts_fetch_each_file_from_the_origin_once(fleet: Fleet) -> None:
    for number in (1, 2, 3):
        fleet.seed(number)
    downloads = fleet.download_all([1, 2, 3])
    for number in (1, 2, 3):
        fleet.assert_right(number)
    assert fleet.sent_by_origin() == fleet.size()
    assert sum(download.resume["shared_bytes"] for download in downloads) >= 2 * fleet.size()


def test_a_host_that_joins_later_asks_the_origin_for_nothing(fleet: Fleet) -> None:
    fleet.seed(1)
    fleet.download(1)
    fleet.pair.control.clear_requests()
    fleet.seed(2)
    fleet.download(2)
    fleet.assert_right(2)
    assert fleet.sent_by_origin() == 0


def test_other_hosts_are_reached_without_the_proxy_that_the_hub_needs(fleet: Fleet) -> None:
    """It would see the key, and often could not reach them: nobody listens at this one."""
    fleet.seed(1)
    fleet.download(1)
    fleet.pair.control.clear_requests()
    fleet.seed(2)
    fleet.download(2, proxies={"http": "http://127.0.0.1:9", "no": "127.0.0.1"})
    fleet.assert_right(2)
    assert fleet.sent_by_origin() == 0


def test_revisions_side_by_side_are_shared_too(fleet: Fleet) -> None:
    fleet.seed(1)
    first = fleet.download(1, side_by_side=True)
    fleet.pair.control.clear_requests()
    fleet.seed(2)
    fleet.download(2, side_by_side=True)
    for file in fleet.repository.iterdir():
        assert (fleet.path(2) / first.commit / file.name).read_bytes() == file.read_bytes()
    assert fleet.sent_by_origin() == 0


def test_a_host_that_gives_wrong_bytes_gets_nothing_into_place(fleet: Fleet) -> None:
    """Its receipts speak for the wrong content, as somebody who is root on it could arrange."""
    fleet.seed(1)
    fleet.download(1)
    receipts = fleet.path(1) / ".model_download" / "receipts.json"
    known = json.loads(receipts.read_text())
    poisoned = "model-00003-of-00008.safetensors"
    (fleet.path(1) / poisoned).write_bytes(shard("t3", 300_000))
    found = os.stat(fleet.path(1) / poisoned)
    known[poisoned].update(mtime_ns=found.st_mtime_ns, inode=found.st_ino)
    receipts.write_text(json.dumps(known))
    fleet.pair.control.clear_requests()
    fleet.seed(2)
    fleet.download(2)
    fleet.assert_right(2)
    assert fleet.sent_by_origin() == (fleet.repository / poisoned).stat().st_size


def test_when_all_others_are_gone_the_origin_is_asked(fleet: Fleet) -> None:
    for number in (1, 2):
        fleet.seed(number)
    fleet.download(1)
    SeedUnit(fleet.units, str(fleet.path(1))).stop()
    fleet.download(2)
    fleet.assert_right(2)
