# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A model download in one process: the local hub, a real aria2c, and a directory to fill.

Only systemd is played: what systemd-run would start as a unit is started as a child process.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path
from typing import Any, Iterator

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch import driver, memory
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import Settings
from ansible_collections.inferops.sglang.plugins.module_utils._target import alarm, aria2_unit, model_download
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_download import ModelDownload, Wish
from ansible_collections.inferops.sglang.plugins.module_utils._target.web import Web
from hub.__main__ import Pair

ARIA2C = shutil.which("aria2c")
TOKEN = "hf_never_to_be_seen_elsewhere"
CRASHES = (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGBUS)  # no test sends one of these
needs_aria2c = pytest.mark.skipif(ARIA2C is None, reason="needs aria2c (Debian package aria2)")


class Units:
    """systemd in small: one process a unit; remembers every argument list, and which processes crashed."""

    def __init__(self) -> None:
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.commands: list[list[str]] = []
        self.crashed: list[str] = []

    def __call__(self, command: list[str]) -> tuple[int, str, str]:
        self.commands.append(command)
        if command[0] == "systemd-run":
            unit = next(word[len("--unit=") :] for word in command if word.startswith("--unit="))
            program = command[command.index("--") + 1 :]
            self.processes[unit] = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for unit in [unit for unit in self.processes if fnmatch.fnmatch(unit, command[-1])]:
            if command[:2] == ["systemctl", "kill"]:
                self.processes[unit].kill()
            elif command[:2] == ["systemctl", "stop"]:
                self.stop(unit)
        return 0, "", ""

    def stop(self, unit: str) -> None:
        process = self.processes.pop(unit, None)
        if process:
            process.terminate()
            if process.wait() in CRASHES:
                self.crashed.append(unit)


class Bench:
    """A hub with one model, a directory to fill, and the remote controls of both."""

    def __init__(self, root: Path, pair: Pair, units: Units) -> None:
        self.repository = root / "hub" / "org" / "model"
        self.target = root / "target"
        self.pair, self.units = pair, units

    def plan(self, **changes: Any) -> ModelDownload:
        wish: dict[str, Any] = {
            "repository": "org/model",
            "revision": "main",
            "path": str(self.target),
            "endpoint": self.pair.url,
            "token": "",
            "include": [],
            "exclude": [],
            "verify": "receipts",
            "slice_seconds": 600.0,
            "resume": {},
        }
        # What the module hands to both, aria2 and its own requests.
        terms = {name: changes.pop(name) for name in ("validate_certs", "ca_path", "proxies") if name in changes}
        parallel_files = changes.pop("parallel_files", 4)
        settings = Settings(
            ARIA2C or "", 16, parallel_files, bytes_per_second=changes.pop("bytes_per_second", 0), **terms
        )
        wish.update(changes)
        web = Web(settings.validate_certs, settings.ca_path or None, settings.proxies)
        return ModelDownload(Wish(**wish), web, self.units, settings)

    def download(self, **changes: Any) -> ModelDownload:
        """What the module does, in one slice without an end."""
        download = self.plan(**changes)
        if not download.resume.get("memory"):
            download.check_space()
            download.check_access()
        self.target.mkdir(exist_ok=True)
        with download.locked() as mine:
            assert mine
            assert download.advance()
        return download

    def faults(self, *rules: dict[str, Any]) -> None:
        self.pair.control.add(list(rules))

    def counts(self) -> dict[str, int]:
        return dict(self.pair.control.requests()["counts"])

    def settings(self, **values: Any) -> None:
        (self.repository.parent / "model.hub.json").write_text(json.dumps(values))

    def finished(self) -> list[str]:
        """The files that carry their names."""
        names = (file.relative_to(self.target) for file in self.target.rglob("*") if file.is_file())
        return sorted(
            str(name) for name in names if not str(name).startswith((".model_download", ".partial-", ".cache"))
        )

    def assert_same(self) -> None:
        there = sorted(str(file.relative_to(self.repository)) for file in self.repository.rglob("*") if file.is_file())
        assert self.finished() == there
        for name in there:
            assert (self.target / name).read_bytes() == (self.repository / name).read_bytes(), name


class Hurry:
    """The time of the download's own pauses, ten times as fast as that of everything else."""

    def __init__(self) -> None:
        self._begin = time.time()

    def time(self) -> float:
        return self._begin + 10 * (time.time() - self._begin)

    monotonic = time

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / 10)


def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also patience is short: how long it is in truth belongs to the tests of the driver."""
    sleep = alarm.Alarm.sleep
    monkeypatch.setattr(model_download, "time", Hurry())
    monkeypatch.setattr(alarm.Alarm, "sleep", lambda self, seconds: sleep(self, seconds / 10))
    monkeypatch.setattr(memory, "PATIENCE_SECONDS", 15.0)
    monkeypatch.setattr(driver, "STALL_SECONDS", 120.0)


def shard(tensor: str, size: int) -> bytes:
    header = json.dumps({tensor: {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(header)) + header + os.urandom(size)


@contextlib.contextmanager
def open_bench(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """A bench with a model of two shards; what it started is stopped at its end."""
    model = root / "hub" / "org" / "model"
    (model / "sub").mkdir(parents=True)
    (model / "config.json").write_text("{}")
    (model / "empty.txt").write_text("")
    (model / "sub" / "a b%.json").write_text("[1]")
    (model / "m-1.safetensors").write_bytes(shard("a", 3_000_000))
    (model / "m-2.safetensors").write_bytes(shard("b", 2_000_000))
    index = {"metadata": {}, "weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}}
    (model / "model.safetensors.index.json").write_text(json.dumps(index))
    monkeypatch.setattr(aria2_unit, "RUNTIME_ROOT", str(root / "run"))
    pair, units = Pair(root / "hub", "127.0.0.1", 0, 0, [TOKEN]), Units()
    pair.start()
    try:
        yield Bench(root, pair, units)
    finally:
        for unit in list(units.processes):
            units.stop(unit)
        pair.stop()
    assert units.crashed == []  # whatever an origin does, aria2c lives through it
