# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The driver against a world of its own: aria2, disk, hub and clock are played, nothing sleeps."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import Any, Callable, Mapping

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.disk import explain
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import (
    STALL_SECONDS,
    Job,
    NotYet,
    OnDisk,
    Ports,
    SessionLost,
    SourceFailed,
    Transfer,
    TransferFailed,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.memory import (
    MAX_FRUITLESS,
    PATIENCE_SECONDS,
    Memory,
    load_memory,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import gid_of
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.rpc import Status

COMMIT = 40 * "c"
SIZE = 1000


class World:
    """aria2 fetches *speed* bytes a second of each of the first *parallel* files; others wait for their turn.

    An address is refused *lifetime* seconds after it was given. Faults are planned in the dictionaries by path.
    """

    def __init__(self, speed: int = 500, parallel: int = 1000, lifetime: float = float("inf")) -> None:
        self.now = 1000.0
        self.speed, self.parallel, self.lifetime = speed, parallel, lifetime
        self.given: dict[str, float] = {}
        self.disk: dict[str, OnDisk] = {}
        self.aria2: dict[str, Status] = {}
        self.paths: dict[str, str] = {}
        self.addresses: list[tuple[str, str]] = []
        self.failures: dict[str, list[tuple[int, int]]] = {}  # path -> (bytes held then, aria2's code)
        self.wrong: dict[str, int] = {}  # path -> how often the content is wrong
        self.locate_errors: dict[str, list[SourceFailed | NotYet]] = {}
        self.direct: set[str] = set()
        self.checked: list[str] = []
        self.discarded: list[str] = []
        self.dies_at: float | None = None
        self.size_offered: dict[str, int] = {}

    def ports(self) -> Ports:
        return Ports(
            downloads=self.downloads,
            add=self.add,
            forget=lambda gid: self.aria2.pop(gid, None) and None,
            remove=lambda gid: self.aria2.pop(gid, None) and None,
            look=lambda path: self.disk.get(path, OnDisk()),
            discard=self.discard,
            locate=self.locate,
            send=self.send,
            check=self.check,
            submit=at_once,
            submit_check=at_once,
            clock=lambda: self.now,
            sleep=self.sleep,
        )

    def transfer(self, *paths: str, memory: Memory | None = None) -> Transfer:
        return Transfer(COMMIT, [Job(path, SIZE) for path in paths], self.ports(), memory or Memory())

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        active = [gid for gid, status in self.aria2.items() if status.state == "active"]
        for gid in active[: self.parallel]:
            self.aria2[gid] = self._next(gid, self.aria2[gid], seconds)
        if self.dies_at is not None and self.now >= self.dies_at:
            self.dies_at = None
            self.die()

    def _next(self, gid: str, status: Status, seconds: float) -> Status:
        path = self.paths[gid]
        if self.now - self.given[gid] > self.lifetime:
            return Status(gid, "error", SIZE, status.completed_bytes, 0, 22, "status=403")
        held = min(SIZE, status.completed_bytes + int(self.speed * seconds))
        plan = self.failures.get(path)
        if plan and held >= plan[0][0]:
            held, code = plan.pop(0)
            self.disk[path] = OnDisk(True, SIZE, held, resumable=True)
            return Status(gid, "error", SIZE, held, 0, code, "see https://cdn.example/x?Signature=secret now")
        state = "complete" if held == SIZE else "active"
        self.disk[path] = OnDisk(True, SIZE, held, resumable=state == "active")
        return Status(gid, state, self.size_offered.get(path, SIZE), held, self.speed, 0, "")

    def die(self) -> None:
        self.aria2.clear()
        self.paths.clear()
        self.dead = True

    dead = False

    def downloads(self) -> Mapping[str, Status]:
        if self.dead:
            self.dead = False
            raise SessionLost
        return dict(self.aria2)

    def add(self, gid: str, path: str, address: str) -> None:
        assert gid == gid_of(COMMIT, path)
        assert gid not in self.aria2, "aria2 refuses a gid that it still remembers"
        self.paths[gid], self.given[gid] = path, self.now
        self.addresses.append((path, address))
        held = self.disk.get(path, OnDisk()).held_bytes
        self.aria2[gid] = Status(gid, "active", SIZE, held, 0, 0, "")

    def discard(self, path: str) -> None:
        self.discarded.append(path)
        self.disk.pop(path, None)

    def locate(self, path: str) -> str | None:
        errors = self.locate_errors.get(path)
        if errors:
            raise errors.pop(0)
        return None if path in self.direct else f"https://cdn.example/{path}?at={self.now:.0f}"

    def send(self, path: str) -> bool:
        self.disk[path] = OnDisk(True, SIZE, SIZE)
        return True

    def check(self, path: str) -> bool:
        self.checked.append(path)
        self.wrong[path] = self.wrong.get(path, 0) - 1
        return self.wrong[path] < 0


def at_once(function: Callable[..., Any], *arguments: Any) -> Future[Any]:
    future: Future[Any] = Future()
    try:
        future.set_result(function(*arguments))
    except Exception as error:
        future.set_exception(error)
    return future


def never(_function: Callable[..., Any], *_arguments: Any) -> Future[Any]:
    return Future()


def test_files_are_fetched_checked_and_counted() -> None:
    world = World()
    world.direct = {"config.json"}
    transfer = world.transfer("config.json", "a", "b")
    assert transfer.run(deadline=world.now + 60)
    assert sorted(transfer.verified()) == ["a", "b", "config.json"]
    assert sorted(path for path, _address in world.addresses) == ["a", "b"]
    assert transfer.held_bytes() == 3 * SIZE


def test_a_file_that_is_about_to_be_complete_is_asked_for_more_often() -> None:
    world = World(speed=1000)
    world.disk["a"] = OnDisk(True, SIZE, SIZE - 350, resumable=True)
    naps: list[float] = []
    sleep = world.sleep

    def note(seconds: float) -> None:
        naps.append(round(seconds, 2))
        sleep(seconds)

    transfer = world.transfer("a")
    transfer._ports.sleep = note
    assert transfer.run(deadline=world.now + 60)
    # 350 bytes at 1000 a second: a whole tick, and no more than the rest needs.
    assert naps[-3:] == [0.2, 0.15, 0.2]


def test_a_slice_ends_at_its_deadline_and_the_next_one_goes_on_without_adding_anything_again() -> None:
    world = World(speed=100)
    assert not world.transfer("a").run(deadline=world.now + 3)
    assert world.now < 1005
    assert world.transfer("a").run(deadline=world.now + 60)
    assert len(world.addresses) == 1


def test_what_completed_while_nobody_looked_is_only_checked() -> None:
    world = World(speed=100)
    world.transfer("a").run(deadline=world.now + 1)
    for _second in range(20):
        world.sleep(1.0)
    assert world.transfer("a").run(deadline=world.now + 60)
    assert world.checked == ["a"]
    assert len(world.addresses) == 1


@pytest.mark.parametrize("code", [1, 2, 6, 7, 8, 19, 22, 24, 29])
def test_a_failure_that_passes_gets_a_fresh_address_and_keeps_its_bytes(code: int) -> None:
    world = World()
    world.failures = {"a": [(400, code), (800, code)]}
    assert world.transfer("a").run(deadline=world.now + 60)
    assert len({address for _path, address in world.addresses}) == 3
    assert world.discarded == []


@pytest.mark.parametrize(("code", "sentence"), [(3, "the file is not there"), (17, "disk failed")])
def test_a_failure_that_cannot_pass_ends_the_transfer(code: int, sentence: str) -> None:
    world = World()
    world.failures = {"a": [(400, code)]}
    with pytest.raises(TransferFailed, match=f"Cannot fetch a: .*{sentence}"):
        world.transfer("a").run(deadline=world.now + 60)


def test_a_full_disk_is_told_like_one_that_python_met() -> None:
    world = World()
    world.failures = {"a": [(400, 9)]}
    with pytest.raises(OSError, match="No space left") as error:
        world.transfer("a").run(deadline=world.now + 60)
    assert explain("/srv/m", error.value) == (
        "The disk of /srv/m is full (No space left on device): free space there and run again, what is there is kept"
    )
    assert explain("/srv/m", OSError(13, "Permission denied")) == "Cannot work in /srv/m: [Errno 13] Permission denied"


def test_an_old_failure_in_a_session_that_was_left_behind_is_no_verdict() -> None:
    world = World()
    world.failures = {"a": [(400, 9)]}
    with pytest.raises(OSError, match="No space left"):
        world.transfer("a").run(deadline=world.now + 60)
    assert [status.state for status in world.aria2.values()] == ["error"]
    assert world.transfer("a").run(deadline=world.now + 60)


def test_failures_without_a_new_byte_come_to_an_end_and_never_show_an_address() -> None:
    world = World()
    world.failures = {"a": 20 * [(400, 22)]}
    with pytest.raises(TransferFailed) as error:
        world.transfer("a").run(deadline=world.now + 600)
    assert "15 attempts in a row over 5 min 7 s brought nothing new" in str(error.value)
    assert "see <address> now" in str(error.value)
    assert "secret" not in str(error.value)


def test_an_origin_that_is_away_for_minutes_is_waited_for() -> None:
    """The pauses grow to half a minute; giving up takes both, attempts and time."""
    world = World()
    world.failures = {"a": 12 * [(0, 29)]}
    transfer = world.transfer("a")
    assert transfer.run(deadline=world.now + 900)
    assert 1000 + 0.6 * PATIENCE_SECONDS < world.now < 1000 + PATIENCE_SECONDS


def test_a_transfer_that_waits_says_after_what() -> None:
    world = World()
    world.failures = {"a": 20 * [(400, 29)]}
    transfer = world.transfer("a", "b")
    assert not transfer.run(deadline=world.now + 60)
    assert transfer.trouble() == "a: aria2 error 29: see <address> now"
    world.failures = {}
    assert transfer.run(deadline=world.now + 60)
    assert transfer.trouble() == ""


@pytest.mark.parametrize("slice_seconds", [10.0, 1e9])
def test_addresses_that_expire_in_the_queue_are_nobodys_failure(slice_seconds: float) -> None:
    """64 files in a row, four at a time, each slower than its neighbours' addresses live."""
    world, memory = World(speed=10, parallel=4, lifetime=150.0), Memory()
    files = [f"m-{number}" for number in range(64)]
    for _slice in range(1000):
        transfer = world.transfer(*(path for path in files if path not in world.checked), memory=memory)
        if transfer.run(deadline=world.now + slice_seconds):
            break
        memory = load_memory(json.loads(json.dumps(memory.dump())))
    assert sorted(world.checked) == sorted(files)
    assert len(world.addresses) > 5 * len(files)
    assert world.discarded == []


def test_a_control_file_for_other_pieces_costs_what_it_stands_for_and_no_more() -> None:
    world = World()
    world.failures = {"a": [(400, 10)]}
    assert world.transfer("a").run(deadline=world.now + 60)
    assert world.discarded == ["a"]


def test_any_number_of_failures_is_fine_while_bytes_arrive() -> None:
    world = World()
    world.failures = {"a": [(held, 22) for held in range(50, 1000, 50)]}
    assert world.transfer("a").run(deadline=world.now + 600)


def test_the_count_of_failures_survives_from_slice_to_slice() -> None:
    world, memory = World(), Memory()
    world.failures = {"a": 20 * [(400, 22)]}
    with pytest.raises(TransferFailed, match="brought nothing new"):
        for _slice in range(1000):
            world.transfer("a", memory=memory).run(deadline=world.now + 1)
            memory = load_memory(memory.dump())


def test_a_rate_limit_is_waited_for_and_is_no_failure() -> None:
    world = World()
    world.locate_errors = {"a": [SourceFailed("429", wait_seconds=30.0) for _time in range(MAX_FRUITLESS + 3)]}
    assert world.transfer("a").run(deadline=world.now + 900)
    assert world.now > 1000 + 30 * (MAX_FRUITLESS + 3)


def test_a_rate_limit_that_never_ends_ends_the_transfer() -> None:
    world = World()
    world.locate_errors = {"a": [SourceFailed("the rate is limited", wait_seconds=30.0) for _time in range(100)]}
    with pytest.raises(
        TransferFailed, match=r"Nothing arrived for 900 s \(the last trouble was with a: the rate is lim"
    ):
        world.transfer("a").run(deadline=world.now + 5000)
    assert world.now == pytest.approx(1000 + STALL_SECONDS, abs=30)


def test_another_host_may_take_as_long_as_it_needs() -> None:
    world = World()
    world.locate_errors = {"a": [NotYet(10.0) for _time in range(200)]}
    assert world.transfer("a").run(deadline=world.now + 5000)
    assert world.now > 1000 + 2 * STALL_SECONDS


def test_a_refusal_is_final() -> None:
    world = World()
    world.locate_errors = {"a": [SourceFailed("org/m is gated", final=True)]}
    with pytest.raises(TransferFailed, match="Cannot fetch a: org/m is gated"):
        world.transfer("a").run(deadline=world.now + 60)


def test_wrong_content_is_thrown_away_and_fetched_once_more() -> None:
    world = World()
    world.wrong = {"a": 1}
    assert world.transfer("a").run(deadline=world.now + 60)
    assert world.discarded == ["a"]
    assert len(world.addresses) == 2


def test_content_that_stays_wrong_ends_the_transfer_and_is_not_kept() -> None:
    world = World()
    world.wrong = {"a": 9}
    with pytest.raises(TransferFailed, match="a arrived twice with content that is not what the hub's listing says"):
        world.transfer("a").run(deadline=world.now + 60)
    assert world.discarded == ["a", "a"]


def test_a_full_size_file_without_a_control_file_is_not_trusted() -> None:
    world = World()
    world.disk["a"] = OnDisk(True, SIZE, SIZE, resumable=False)
    world.wrong = {"a": 1}
    assert world.transfer("a").run(deadline=world.now + 60)
    assert world.checked == ["a", "a"]
    assert len(world.addresses) == 1


def test_a_short_file_without_a_control_file_is_thrown_away() -> None:
    world = World()
    world.disk["a"] = OnDisk(True, SIZE // 2, SIZE // 2, resumable=False)
    assert world.transfer("a").run(deadline=world.now + 60)
    assert world.discarded == ["a"]


def test_a_killed_aria2_is_started_again_and_goes_on() -> None:
    world = World(speed=100)
    world.dies_at = 1004.0
    assert world.transfer("a").run(deadline=world.now + 60)
    assert len(world.addresses) == 2
    assert world.discarded == []


def test_an_aria2_that_dies_again_and_again_ends_the_transfer() -> None:
    world = World(speed=0)
    transfer = world.transfer("a")
    sleep = world.sleep

    def dying(seconds: float) -> None:
        sleep(seconds)
        if world.aria2:
            world.die()

    transfer._ports.sleep = dying
    with pytest.raises(TransferFailed, match="aria2c ended again and again"):
        transfer.run(deadline=world.now + 600)


def test_an_offer_of_another_size_is_refused() -> None:
    world = World()
    world.size_offered = {"a": 18}
    with pytest.raises(TransferFailed, match="18 bytes are offered, not the 1000 of the listing"):
        world.transfer("a").run(deadline=world.now + 600)


def test_silence_for_too_long_ends_the_transfer_also_over_many_slices() -> None:
    world, memory = World(speed=0), Memory()
    with pytest.raises(TransferFailed, match="Nothing arrived for"):
        for _slice in range(1000):
            world.transfer("a", memory=memory).run(deadline=world.now + 10)
            memory = load_memory(memory.dump())
    assert world.now == pytest.approx(1000 + STALL_SECONDS, abs=30)


def test_a_hash_that_waits_for_its_turn_is_called_back_at_the_deadline() -> None:
    world = World()
    transfer = world.transfer("a")
    transfer._ports.submit_check = never
    assert not transfer.run(deadline=world.now + 5)
    assert world.transfer("a").run(deadline=world.now + 5)
    assert world.checked == ["a"]
