# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a group: one fetch from the origin, the rest from each other, whatever dies in between."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.offers import offers
from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.pace import Pace
from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.plan import (
    AVOID_SECONDS,
    HOLDER_SECONDS,
    ORIGIN,
    PATIENCE_SECONDS,
    UPLOADS,
    Plan,
)

GIB = 1 << 30


def model(files: int, size: int = 9 * GIB) -> dict[str, int]:
    return {f"sha256:{number:064x}": size for number in range(files)}


class Group:
    """Hosts that ask once a second; a file takes one second from anywhere, and is verified at once."""

    def __init__(self, hosts: list[str], files: dict[str, int], parallel_files: int = 4) -> None:
        self.plan = Plan()
        self.files = files
        self.parallel_files = parallel_files
        self.holds: dict[str, set[str]] = {host: set() for host in hosts}
        self.sent: Counter[str] = Counter()  # files by source
        self.busiest = 0
        self.now = 0.0

    def lacks(self, host: str) -> dict[str, int]:
        return {digest: size for digest, size in self.files.items() if digest not in self.holds[host]}

    def second(self, silent: tuple[str, ...] = ()) -> None:
        self.now += 1
        for host, held in self.holds.items():
            if host not in silent:
                self.plan.learn(host, held, self.now)
        takes = {
            host: self.plan.ask(host, self.lacks(host), [], [], self.parallel_files, self.now)
            for host in self.holds
            if host not in silent and self.lacks(host)
        }
        uploads = Counter(source for answer in takes.values() for source in answer.values() if source != ORIGIN)
        self.busiest = max(self.busiest, *uploads.values(), 0)
        for host, answer in takes.items():
            for digest, source in answer.items():
                assert source == ORIGIN or digest in self.holds[source]
                self.holds[host].add(digest)
                self.sent[source] += 1

    def until_done(self, silent: tuple[str, ...] = (), limit: int = 1000) -> float:
        while any(self.lacks(host) for host in self.holds if host not in silent):
            assert self.now < limit, "the plan does not end"
            self.second(silent)
        return self.now


def test_four_empty_hosts_fetch_each_file_once_and_a_share_each() -> None:
    group = Group(["a", "b", "c", "d"], model(64))
    group.until_done()
    assert group.sent[ORIGIN] == 64
    assert sum(group.sent.values()) == 4 * 64
    # Nobody sends much more than the others.
    assert max(group.sent[host] for host in "abcd") <= 1.5 * min(group.sent[host] for host in "abcd")


def test_a_seed_sends_little_more_than_one_copy_to_many() -> None:
    hosts = ["seed"] + [f"h{number}" for number in range(8)]
    group = Group(hosts, model(64), parallel_files=6)
    group.holds["seed"] = set(group.files)
    group.until_done()
    assert group.sent[ORIGIN] == 0
    assert group.sent["seed"] <= 2 * 64
    assert group.busiest <= UPLOADS


def test_empty_hosts_share_the_places_of_a_seed_from_the_start() -> None:
    plan, files = Plan(), model(8)
    plan.learn("seed", files, 0.0)
    for host in "abc":
        plan.learn(host, [], 0.0)
    taken = [plan.ask(host, files, [], [], 4, 0.1) for host in "abc"]
    assert [len(takes) for takes in taken] == [1, 1, 1]
    assert len({digest for takes in taken for digest in takes}) == 3


def test_a_host_alone_takes_all_of_it_from_the_origin() -> None:
    group = Group(["a"], model(7))
    group.until_done()
    assert group.sent == {ORIGIN: 7}


def test_small_files_come_in_bundles() -> None:
    group = Group(["a", "b"], model(100, size=4000))
    assert group.until_done() <= 4
    assert group.sent[ORIGIN] == 100


def test_asked_again_it_answers_the_same() -> None:
    plan, files = Plan(), model(8)
    first = plan.ask("a", files, [], [], 4, 1.0)
    assert len(first) == 2
    assert plan.ask("a", files, [], [], 4, 2.0) == first


def test_what_a_dead_host_was_to_fetch_goes_to_another() -> None:
    group = Group(["a", "b"], model(6))
    group.second()
    plan = group.plan
    plan.ask("a", group.lacks("a"), [], [], 4, group.now)  # takes two more, then dies
    group.now += PATIENCE_SECONDS
    group.until_done(silent=("a",), limit=200)
    assert not group.lacks("b")


def test_a_holder_that_does_not_answer_any_more_is_replaced_by_the_origin() -> None:
    plan, files = Plan(), model(1)
    digest = next(iter(files))
    plan.learn("a", [digest], 0.0)
    assert plan.ask("b", files, [], [], 4, 1.0) == {digest: "a"}
    assert plan.ask("b", files, [], [], 4, HOLDER_SECONDS + 1) == {}  # it may only be busy
    assert plan.ask("b", files, [], [], 4, PATIENCE_SECONDS + 1) == {digest: ORIGIN}


def test_what_a_host_has_just_verified_is_not_fetched_again_before_its_list_says_so() -> None:
    plan, files = Plan(), model(1)
    digest = next(iter(files))
    assert plan.ask("a", files, [], [], 4, 0.0) == {digest: ORIGIN}
    plan.learn("a", [], 0.5)
    plan.ask("a", {}, [], [], 4, 1.0)
    assert plan.ask("b", files, [], [], 4, 1.1) == {}
    plan.learn("a", [digest], 2.0)
    assert plan.ask("b", files, [], [], 4, 2.1) == {digest: "a"}


def test_a_source_that_failed_is_avoided_for_a_while() -> None:
    plan, files = Plan(), model(1)
    digest = next(iter(files))
    plan.learn("a", [digest], 0.0)
    assert plan.ask("b", files, [[digest, "a"]], [], 4, 1.0) == {digest: ORIGIN}
    later = 1.0 + AVOID_SECONDS
    plan.learn("a", [digest], later)
    assert plan.ask("c", files, [], [], 4, later) == {digest: "a"}


def test_wrong_content_from_a_host_is_fetched_from_the_origin_although_others_hold_it() -> None:
    plan, files = Plan(), model(1)
    digest = next(iter(files))
    plan.learn("a", [digest], 0.0)
    plan.learn("c", [digest], 0.0)
    assert plan.ask("b", files, [], [digest], 4, 1.0) == {digest: ORIGIN}
    assert plan.ask("b", files, [], [], 4, 2.0) == {digest: ORIGIN}


def test_nobody_takes_from_itself() -> None:
    plan, files = Plan(), model(2)
    plan.learn("a", files, 0.0)
    assert set(plan.ask("a", files, [], [], 4, 1.0).values()) == {ORIGIN}


def test_receipts_become_offers_by_digest(tmp_path: Path) -> None:
    file = tmp_path / "model" / "a.bin"
    file.parent.mkdir()
    file.write_bytes(b"abc")
    found = os.stat(file)
    entry = {"size": 3, "mtime_ns": found.st_mtime_ns, "inode": found.st_ino, "digest": "sha256:1", "commit": "c"}
    offer = offers(json.dumps({"a.bin": entry}), ("/staging", str(file.parent)))["sha256:1"]
    assert offer.places == ("/staging/a.bin", str(file))
    assert offer.is_still(found)
    file.write_bytes(b"abd!")
    assert not offer.is_still(os.stat(file))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', '{"a": {"digest": "x"}}'])
def test_damaged_receipts_offer_nothing(text: str) -> None:
    assert offers(text, ("/m",)) == {}


def test_a_limit_holds_over_all_senders_and_after_a_pause() -> None:
    now = [0.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    pace = Pace(1000, lambda: now[0], sleep)
    for _ in range(10):
        pace.wait(500)
    assert now[0] == pytest.approx(5.0, abs=0.3)
    now[0] += 60  # what was not sent meanwhile does not come on top
    start = now[0]
    for _ in range(10):
        pace.wait(500)
    assert now[0] - start >= 4.5


def test_without_a_limit_nothing_waits() -> None:
    Pace(0, lambda: 0.0, lambda _seconds: pytest.fail("waited")).wait(1 << 40)
