# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that give files to each other: the real program, packed as on a target, one loopback address a host.

Only systemd is played: what systemd-run would start as a unit is started as a child process.
"""

from __future__ import annotations

import fnmatch
import hashlib
import http.client
import json
import os
import socket
import stat
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterator, Mapping

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import NotYet
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import ManifestFile
from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.pace import Pace
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.receipts import dump_receipts, receipt_for
from ansible_collections.inferops.sglang.plugins.module_utils._target import seed_program, seed_unit
from ansible_collections.inferops.sglang.plugins.module_utils._target.seed_unit import SeedFailed, SeedUnit
from ansible_collections.inferops.sglang.plugins.module_utils._target.swarm import Group, Swarm

KEY = "a-key-of-one-play"
KEY_DIGEST = hashlib.sha256(KEY.encode()).hexdigest()
COMMIT = "c" * 40


class Units:
    def __init__(self) -> None:
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.commands: list[list[str]] = []

    def __call__(self, command: list[str]) -> tuple[int, str, str]:
        self.commands.append(command)
        if command[0] == "systemd-run":
            unit = next(word[len("--unit=") :] for word in command if word.startswith("--unit="))
            self.processes[unit] = subprocess.Popen(command[command.index("--") + 1 :])
        elif command[:2] == ["systemctl", "stop"]:
            for unit in [unit for unit in self.processes if fnmatch.fnmatch(unit, command[-1])]:
                process = self.processes.pop(unit)
                process.terminate()
                process.wait()
        return 0, "", ""

    def stop_all(self) -> None:
        self(["systemctl", "stop", "*"])


@pytest.fixture
def units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Units]:
    monkeypatch.setattr(seed_unit, "RUNTIME_ROOT", str(tmp_path / "run"))
    units = Units()
    yield units
    units.stop_all()


def hold(directory: Path, name: str, content: bytes) -> ManifestFile:
    """Put a verified file and its receipt into *directory*."""
    place = directory / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    receipts = directory / ".model_download" / "receipts.json"
    receipts.parent.mkdir(exist_ok=True)
    known = json.loads(receipts.read_text()) if receipts.exists() else {}
    known.update(json.loads(dump_receipts({name: receipt_for(os.stat(place), digest, COMMIT)})))
    receipts.write_text(json.dumps(known))
    return ManifestFile(name, len(content), digest)


def free_ports() -> range:
    """A range that begins at a port nobody has right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        first = probe.getsockname()[1]
    return range(first, first + 20)


def seed(units: Units, path: Path, address: str = "127.0.0.1", rate: int = 0) -> str:
    return SeedUnit(units, str(path)).start(address, free_ports(), rate, KEY_DIGEST)


def get(host: str, path: str, headers: Mapping[str, str] | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(host, timeout=10)
    connection.request("GET", path, headers=dict(headers or {}))
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, content


def have(host: str, key: str = KEY) -> Any:
    status, body = get(host, "/have", {"Authorization": f"Bearer {key}"})
    return json.loads(body) if status == 200 else status


def test_a_verified_file_is_given_whole_and_in_ranges(units: Units, tmp_path: Path) -> None:
    file = hold(tmp_path / "model", "sub/a.bin", bytes(range(256)) * 1000)
    host = seed(units, tmp_path / "model")
    assert have(host) == [file.digest]
    assert get(host, f"/{KEY}/{file.digest}") == (200, bytes(range(256)) * 1000)
    assert get(host, f"/{KEY}/{file.digest}", {"Range": "bytes=255-257"}) == (206, b"\xff\x00\x01")
    assert get(host, f"/{KEY}/{file.digest}", {"Range": "bytes=256000-"})[0] == 416


def test_without_the_key_nothing_is_given_and_the_key_stands_in_no_argument(units: Units, tmp_path: Path) -> None:
    file = hold(tmp_path / "model", "a.bin", b"secret weights")
    host = seed(units, tmp_path / "model")
    assert get(host, f"/wrong/{file.digest}") == (403, b"")
    assert get(host, f"/{file.digest}") == (403, b"")
    assert have(host, "wrong") == 403
    assert have(host, "") == 403
    assert KEY not in json.dumps(units.commands)


def test_a_file_that_changed_after_it_was_hashed_is_not_given(units: Units, tmp_path: Path) -> None:
    file = hold(tmp_path / "model", "a.bin", b"before")
    host = seed(units, tmp_path / "model")
    assert get(host, f"/{KEY}/{file.digest}")[0] == 200
    (tmp_path / "model" / "a.bin").write_bytes(b"after!")
    assert get(host, f"/{KEY}/{file.digest}") == (503, b"")


def test_a_path_is_no_digest(units: Units, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    host = seed(units, tmp_path / "model")
    for path in ("..%2f..%2fetc/passwd", "../../etc/passwd", "/etc/passwd", "a.bin"):
        assert get(host, f"/{KEY}/{path}") == (503, b"")


def test_a_link_is_not_followed(units: Units, tmp_path: Path) -> None:
    file = hold(tmp_path / "model", "a.bin", b"content")
    (tmp_path / "model" / "a.bin").rename(tmp_path / "elsewhere")
    (tmp_path / "model" / "a.bin").symlink_to(tmp_path / "elsewhere")
    host = seed(units, tmp_path / "model")
    assert get(host, f"/{KEY}/{file.digest}")[0] == 503


def test_a_staged_file_is_given_and_also_once_it_has_its_name(units: Units, tmp_path: Path) -> None:
    staging = tmp_path / "model" / f".partial-{COMMIT}"
    file = hold(staging, "a.bin", b"content")
    host = seed(units, tmp_path / "model")
    assert get(host, f"/{KEY}/{file.digest}")[0] == 200
    (staging / "a.bin").rename(tmp_path / "model" / "a.bin")
    assert get(host, f"/{KEY}/{file.digest}") == (200, b"content")


def test_revisions_side_by_side_are_given_too(units: Units, tmp_path: Path) -> None:
    file = hold(tmp_path / "model" / COMMIT, "a.bin", b"content")
    host = seed(units, tmp_path / "model")
    assert have(host) == [file.digest]


def test_started_again_it_goes_on_and_opens_for_both_plays(units: Units, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    unit, ports = SeedUnit(units, str(tmp_path / "model")), free_ports()
    first = unit.start("127.0.0.1", ports, 0, KEY_DIGEST)
    assert unit.start("127.0.0.1", ports, 0, hashlib.sha256(b"other").hexdigest()) == first
    assert len(units.processes) == 1
    assert (have(first), have(first, "other")) == ([], [])


def test_another_limit_starts_it_anew(units: Units, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    unit, ports = SeedUnit(units, str(tmp_path / "model")), free_ports()
    unit.start("127.0.0.1", ports, 0, KEY_DIGEST)
    unit.start("127.0.0.1", ports, 1000, KEY_DIGEST)
    assert len(units.processes) == 1


def test_a_port_that_is_taken_is_passed_over_and_a_strange_address_refused(units: Units, tmp_path: Path) -> None:
    ports = free_ports()
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", ports[0]))
        busy.listen()
        unit = SeedUnit(units, str(tmp_path / "model"))
        assert unit.start("127.0.0.1", ports, 0, KEY_DIGEST) != f"127.0.0.1:{ports[0]}"
        with pytest.raises(SeedFailed, match="is taken: name others"):
            SeedUnit(units, str(tmp_path / "b")).start("127.0.0.1", range(ports[0], ports[0] + 1), 0, KEY_DIGEST)
    with pytest.raises(SeedFailed, match=r"192\.0\.2\.1 is not an address of this host"):
        SeedUnit(units, str(tmp_path / "c")).start("192.0.2.1", ports, 0, KEY_DIGEST)


def test_what_it_keeps_is_for_root_alone(units: Units, tmp_path: Path) -> None:
    seed(units, tmp_path / "model")
    root = tmp_path / "run"
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert stat.S_IMODE(next(root.glob("*/allowed.json")).stat().st_mode) == 0o600


def swarm(hosts: list[str], own: str, lacking: list[ManifestFile], **options: Any) -> Swarm:
    return Swarm(Group(KEY, hosts, own), lacking, 4, {}, **options)


def test_an_empty_host_is_sent_to_the_one_that_holds_the_file(units: Units, tmp_path: Path) -> None:
    file = hold(tmp_path / "a", "a.bin", b"content")
    other = ManifestFile("b.bin", 5, "sha256:" + "b" * 64)
    hosts = [seed(units, tmp_path / "a", "127.0.0.2"), seed(units, tmp_path / "b", "127.0.0.3")]
    taker = swarm(hosts, hosts[1], [file, other])
    address = taker.address(file)
    assert address == f"http://{hosts[0]}/{KEY}/{file.digest}"
    assert get(hosts[0], address.partition(hosts[0])[2]) == (200, b"content")
    assert taker.address(other) is None  # nobody has it: the origin
    taker.checked(file, True)
    assert taker.shared_bytes == 7


def test_the_second_host_keeps_the_plan_when_the_first_is_gone(units: Units, tmp_path: Path) -> None:
    file = hold(tmp_path / "b", "a.bin", b"content")
    hosts = [seed(units, tmp_path / name, address) for name, address in (("a", "127.0.0.2"), ("b", "127.0.0.3"))]
    SeedUnit(units, str(tmp_path / "a")).stop()
    assert swarm(hosts, hosts[0], [file]).address(file) == f"http://{hosts[1]}/{KEY}/{file.digest}"


def test_without_any_other_host_all_comes_from_the_origin() -> None:
    file = ManifestFile("a.bin", 5, "sha256:" + "a" * 64)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{closed.getsockname()[1]}"
        assert swarm([host], host, [file]).address(file) is None


class Asked:
    """A plan that says what a test wants, and remembers the questions."""

    def __init__(self, *answers: Mapping[str, str]) -> None:
        self.answers = list(answers)
        self.questions: list[Mapping[str, Any]] = []

    def __call__(self, _host: str, question: Mapping[str, Any]) -> Mapping[str, str]:
        self.questions.append(json.loads(json.dumps(question)))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


FILE = ManifestFile("a.bin", 5, "sha256:" + "a" * 64)


def test_a_file_that_another_host_fetches_waits() -> None:
    taker = swarm(["h:1"], "h:2", [FILE], ask=Asked({}), clock=lambda: 0.0)
    with pytest.raises(NotYet) as waits:
        taker.address(FILE)
    assert waits.value.wait_seconds > 0


def test_a_source_that_did_not_work_twice_is_reported(clock: list[float] = [0.0]) -> None:  # noqa: B006
    asked = Asked({FILE.digest: "a:1"}, {FILE.digest: ""})

    def tick() -> float:
        clock[0] += 0.2
        return clock[0]

    taker = swarm(["a:1", "b:1"], "b:1", [FILE], ask=asked, clock=tick)
    addresses = [taker.address(FILE)]
    asked.answers = [{FILE.digest: "a:1"}]
    addresses.append(taker.address(FILE))
    asked.answers = [{FILE.digest: ""}]
    taker.address(FILE)
    assert addresses == [f"http://a:1/{KEY}/{FILE.digest}"] * 2
    assert [FILE.digest, "a:1"] in [pair for question in asked.questions for pair in question["failed"]]


def test_wrong_content_from_a_host_is_reported_and_from_the_origin_is_not() -> None:
    now = [0.0]
    for source, wrong in (("a:1", [FILE.digest]), ("", [])):
        asked = Asked({FILE.digest: source})
        taker = swarm(["a:1"], "b:1", [FILE], ask=asked, clock=lambda: now[0])
        taker.address(FILE)
        taker.checked(FILE, False)
        now[0] += 5
        taker.address(FILE)
        assert asked.questions[-1]["wrong"] == wrong


@pytest.mark.parametrize("what", ["wrong", "failed twice"])
def test_a_host_that_disappointed_is_not_asked_again_by_the_old_plan(what: str) -> None:
    """However soon the driver comes back: the plan is asked for anew before the file is."""
    asked = Asked({FILE.digest: "a:1"})
    taker = swarm(["a:1", "b:1"], "b:1", [FILE], ask=asked, clock=lambda: 0.0)
    taker.address(FILE)
    if what == "wrong":
        taker.checked(FILE, False)
    else:
        taker.address(FILE)
    with pytest.raises(NotYet):
        taker.address(FILE)
    assert len(asked.questions) == 1


def test_it_ends_when_nobody_asks_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seed_program, "IDLE_SECONDS", -1.0)
    with seed_program.Server(("127.0.0.1", 0), str(tmp_path), str(tmp_path / "allowed.json"), 0) as server:
        server.serve_forever(poll_interval=0.01)  # returns


def test_what_a_host_sends_is_limited_for_all_together(tmp_path: Path) -> None:
    """Two hosts take the file at once, and get no more than one would."""
    content = os.urandom(3 << 20)
    file = hold(tmp_path / "model", "a.bin", content)
    (tmp_path / "allowed.json").write_text(json.dumps([KEY_DIGEST]))
    waited: list[float] = []
    with seed_program.Server(
        ("127.0.0.1", 0), str(tmp_path / "model"), str(tmp_path / "allowed.json"), 1 << 20
    ) as server:
        server.pace = Pace(1 << 20, lambda: 0.0, waited.append)  # no time passes but that which is waited
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        host = f"127.0.0.1:{server.server_address[1]}"
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda _number: get(host, f"/{KEY}/{file.digest}"), range(2)))
        server.shutdown()
    assert answers == [(200, content)] * 2
    assert max(waited) == 2 * 3.0
