# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of a wait, with a clock of our own."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any, Callable, Iterable

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.log import UNIT, Entry
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.phases import TITLES
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving import outcome
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.probe import Answer, Endpoint
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.readiness import Limits, Wait
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.stall import STALL_SECONDS
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.unit import UnitState, parse_unit
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.watch import Question, watch

RUNNING = UnitState("sglang.service", "loaded", "active", "running", "success", "abc", 0, 10, "/x")
GOOD = Answer("OK", 0.2, 200)


def line(text: str, time: float | None = None) -> Entry:
    """One line of the service."""
    return Entry(text, time, 10, "", UNIT, True)


def fresh(node_rank: int = 0, **limits: float) -> Wait:
    """A wait that began at 100."""
    wait = Wait(Limits(**limits), node_rank=node_rank)
    wait.begin(RUNNING, 100.0)
    return wait


def test_two_good_answers_are_ready_and_one_is_not() -> None:
    """Some failures need a cached prefix."""
    wait = fresh()
    wait.see_answer(GOOD, 101.0)
    assert wait.verdict(101.0) == "waiting"
    wait.see_answer(GOOD, 101.1)
    assert wait.verdict(101.1) == "ready"


def test_a_bad_answer_between_two_good_ones_counts_them_anew() -> None:
    """Two in a row are meant."""
    wait = fresh()
    for answer in (GOOD, Answer(problem="no answer within 60 s"), GOOD):
        wait.see_answer(answer, 101.0)
    assert wait.verdict(101.0) == "waiting"


@pytest.mark.parametrize(
    "answer", [Answer("!!!!!!!!!!!!", 0.1, 200), Answer("  ", 0.1, 200), Answer(problem="refused", final=True)]
)
def test_garbage_and_refusals_end_the_wait_at_the_third_time(answer: Answer) -> None:
    """No hour of asking a server that answers wrongly."""
    wait = fresh()
    for _time in range(2):
        wait.see_answer(answer, 101.0)
        assert wait.verdict(101.0) == "waiting"
    wait.see_answer(answer, 101.0)
    assert wait.verdict(101.0) == "refused"


@pytest.mark.parametrize(
    "change",
    [
        {"active": "failed", "sub": "failed"},
        {"active": "activating", "sub": "auto-restart"},
        {"restarts": 1},
        {"invocation": "other"},
        {"active": "deactivating", "sub": "stop-sigterm"},
    ],
)
def test_anything_but_this_invocation_running_on_is_the_end(change: dict[str, Any]) -> None:
    """After the time that a failing rank needs to write its reason."""
    wait = fresh()
    wait.see_unit(dataclasses.replace(RUNNING, **change), 105.0)
    assert wait.verdict(106.0) == "waiting"
    assert wait.verdict(106.5) == "failed"


def test_a_terminal_line_ends_it_while_systemd_still_says_active() -> None:
    """The process prints its death up to a minute before it dies."""
    wait = fresh()
    wait.see_lines([line("Scheduler hit an exception: Traceback (most recent call last):")], 105.0)
    wait.see_answer(GOOD, 105.1)
    wait.see_answer(GOOD, 105.2)
    assert wait.verdict(105.3) == "waiting"
    assert wait.verdict(106.6) == "failed"


def test_reading_on_is_counted_from_the_line_and_not_from_when_it_was_seen() -> None:
    """A look that came half a second late costs nothing; neither does a slice that ended just then."""
    wait = fresh()
    wait.see_lines([line("Scheduler hit an exception: Traceback (most recent call last):", 105.0)], 105.5)
    assert wait.verdict(106.4) == "waiting"
    assert wait.verdict(106.5) == "failed"


def test_stall_and_timeout_and_what_counts_as_life() -> None:
    """New lines and bytes read are life; old lines read again by a new slice are not."""
    wait = fresh(timeout=1000.0, stall=50.0)
    wait.see_lines([line("Load weight begin.", 109.0)], 110.0)
    wait.see_work(1 << 20, False, 120.0)
    wait.see_work(1 << 30, False, 150.0)
    assert wait.verdict(199.0) == "waiting"
    assert wait.verdict(200.0) == "stalled"
    again = Wait(wait.limits)
    again.resume(wait.saved())
    again.see_lines([line("Load weight begin.", 109.0)], 199.0)
    again.see_work(1 << 30, False, 199.0)
    assert again.verdict(200.0) == "stalled"
    again.see_work(1 << 30, True, 199.5)
    assert again.verdict(200.0) == "waiting"
    again.see_lines([line("Load weight end.")], 201.0)
    assert again.verdict(202.0) == "waiting"
    again.changed = 1100.0
    assert again.verdict(1100.0) == "timeout"


def test_each_phase_has_a_silence_of_its_own() -> None:
    """Kernels are compiled without a line for longer than weights are; one number may stand for all of them."""
    wait = fresh()
    wait.see_lines([line("Load weight begin.")], 100.0)
    assert wait.verdict(699.0) == "waiting" and wait.verdict(700.0) == "stalled"
    wait.see_lines([line("Load weight begin."), line("Capture cuda graph begin.")], 700.0)
    assert wait.verdict(2499.0) == "waiting" and wait.verdict(2500.0) == "stalled"
    assert set(STALL_SECONDS) == set(TITLES)


def test_a_worker_node_is_up_when_its_schedulers_are() -> None:
    """By its socket or by the line; and the socket of node 0 says nothing."""
    by_socket, by_line, first = fresh(node_rank=1), fresh(node_rank=1), fresh()
    for wait in (by_socket, by_line, first):
        wait.see_socket("nobody")
        assert wait.verdict(101.0) == "waiting"
    by_socket.see_socket("ours")
    by_line.see_lines([line("Dummy health check server started in background thread at 10.0.0.2:30001")], 101.0)
    first.see_socket("ours")
    first.see_lines([line("Dummy health check server started in background thread at 10.0.0.2:30001")], 101.0)
    assert [wait.verdict(102.0) for wait in (by_socket, by_line, first)] == ["ready", "ready", "waiting"]
    said = outcome.ended("ready", RUNNING, by_socket, [], (), 110.0, nnodes=2)
    assert said["ready"] and "node_rank 1 of 2 nodes" in said["msg"] and "judged on node_rank 0" in said["msg"]
    assert "answer" not in said


def test_a_worker_node_is_never_asked() -> None:
    """Its health server would say 200 to everything."""
    assert run(fresh(node_rank=1), FakeHost(), FakeJournal([line("Load weight end.")])) == "ready"
    assert FakeProber.started == 0


def test_a_stuck_server_says_where_its_ranks_stand() -> None:
    """Or why that is not known."""
    wait = fresh()
    wait.see_lines([line("Load weight begin.")], 100.0)
    stacks = [{"rank": "TP1", "pid": 8, "frames": ["read (loader.py:7)", "load (loader.py:3)"]}]
    told = outcome.ended("stalled", RUNNING, wait, [], (), 800.0, stacks=(stacks, ""))
    assert "stuck while loading weights: nothing printed, read or compiled for 700 s" in told["msg"]
    assert "TP1 stands in read (loader.py:7), called by load (loader.py:3)." in told["msg"]
    assert told["stacks"] == stacks
    blind = outcome.ended("stalled", RUNNING, wait, [], (), 800.0, stacks=([], "there is no py-spy"))
    assert "Where each rank stands is unknown: there is no py-spy." in blind["msg"]


def test_unanswered_questions_and_their_echo_in_the_log_are_no_life() -> None:
    """A hung server stalls although it is asked again and again."""
    wait = fresh(stall=50.0)
    wait.see_lines([line('INFO:     127.0.0.1:5 - "GET /ready HTTP/1.1" 503 Service Unavailable')], 140.0)
    wait.see_answer(Answer(problem="no answer within 5 s"), 145.0)
    assert wait.verdict(150.0) == "stalled"


def test_progress_says_the_phase_the_count_and_the_seconds() -> None:
    """As a person reads it."""
    wait = fresh()
    wait.see_lines([line("Load weight begin."), line("loading shards: 40% Completed | 26/64 [00:01<00:02]")], 141.0)
    assert wait.progress(141.0) == "loading weights 26/64 shards  41 s"


def test_systemctl_show_is_read() -> None:
    """As systemd prints it."""
    text = "LoadState=loaded\nActiveState=failed\nSubState=failed\nResult=signal\nInvocationID=abc\nNRestarts=2\n"
    state = parse_unit("x.service", text + "MainPID=0\nExecMainCode=2\nExecMainStatus=9\nControlGroup=\n")
    assert (state.running, state.exists, state.restarts) == (False, True, 2)
    assert (state.exit_code, state.exit_status, state.result) == ("killed", 9, "signal")
    assert not parse_unit("x.service", "LoadState=not-found\n").exists


LOOKS: list[float] = []


class FakeHost:
    """A unit whose port is ours from the start."""

    def __init__(self, owner: str = "ours") -> None:
        self.owner = owner

    def unit(self) -> UnitState:
        """Always running."""
        return RUNNING

    def listening(self, _unit: UnitState) -> tuple[str, str]:
        """As told."""
        return self.owner, "port 1 is held by another process" if self.owner == "other" else ""

    def working(self, _unit: UnitState) -> tuple[int, bool]:
        """Nothing is read, nothing compiled."""
        return 0, False


class FakeJournal:
    """One batch of lines a look."""

    def __init__(self, *batches: list[Entry]) -> None:
        self.batches = list(batches)

    def read_into(self, take: Callable[[Iterable[Entry]], None]) -> None:
        """The next batch."""
        take(iter(self.batches.pop(0) if self.batches else []))


class FakeProber:
    """Answers at once."""

    busy = False
    models = ("tiny",)
    started = 0

    def __init__(self, _question: Question, wake: threading.Event) -> None:
        self.wake = wake
        self.pending: list[Answer] = []

    def start(self, warm: bool) -> None:
        """Two good answers."""
        del warm
        FakeProber.started += 1
        self.pending += [GOOD, GOOD]
        self.wake.set()

    def answers(self) -> list[Answer]:
        """What came."""
        found, self.pending = self.pending, []
        return found


def run(wait: Wait, host: FakeHost, journal: FakeJournal, seconds: float = 0.0) -> str:
    """The loop, with a clock that moves half a second a look."""
    LOOKS[:] = [100.0]

    def clock() -> float:
        LOOKS.append(LOOKS[-1] + 0.5)
        return LOOKS[-1]

    FakeProber.started = 0
    question = Question(Endpoint("http://127.0.0.1:1"), "hi")
    return watch(wait, host, journal, question, seconds, clock, FakeProber)[0]


def test_the_loop_is_ready_on_two_answers_of_our_own_server() -> None:
    """And only then."""
    assert run(fresh(), FakeHost(), FakeJournal([line("server_args=")])) == "ready"


def test_another_process_on_the_port_is_never_asked() -> None:
    """Its answers would prove nothing."""
    wait = fresh()
    assert run(wait, FakeHost("other"), FakeJournal(), seconds=1.0) == "waiting"
    assert FakeProber.started == 0
    assert wait.progress(101.0).startswith("port 1 is held by another process")


def test_answers_count_only_while_the_port_is_still_ours() -> None:
    """Another process may have taken it while the server was asked."""

    class Lost(FakeHost):
        """Ours at the first look, somebody else's from then on."""

        def listening(self, unit: UnitState) -> tuple[str, str]:
            found = super().listening(unit)
            self.owner = "other"
            return found

    wait = fresh()
    assert run(wait, Lost(), FakeJournal(), seconds=2.0) == "waiting"
    assert FakeProber.started == 1
    assert wait.good == []


def test_no_slice_ends_while_the_server_comes_up() -> None:
    """The next one would be blind while Python starts."""
    wait = fresh()
    coming_up = [line("Uvicorn running on http://127.0.0.1:30001", 101.0)]
    assert run(wait, FakeHost("nobody"), FakeJournal(coming_up), seconds=1.0) == "waiting"
    assert LOOKS[-1] > 130.0
    assert run(fresh(), FakeHost("nobody"), FakeJournal([line("Load weight begin.", 101.0)]), seconds=1.0) == "waiting"
    assert LOOKS[-1] < 103.0


def test_the_loop_ends_on_a_terminal_line_although_answers_are_good() -> None:
    """The diagnosis follows."""
    lines = [line("Scheduler hit an exception: Traceback (most recent call last):"), line("ValueError: x")]
    assert run(fresh(), FakeHost(), FakeJournal(lines)) == "failed"


def test_outcomes_in_words() -> None:
    """What people read at the end."""
    missing = outcome.not_running(parse_unit("y.service", "LoadState=not-found\n"), fresh(), ())
    assert "y.service does not exist on this host" in missing["msg"]
    idle = outcome.not_running(dataclasses.replace(RUNNING, active="inactive", sub="dead"), fresh(), ())
    assert "start it before waiting" in idle["msg"]
    would = outcome.in_check_mode(parse_unit("y.service", "LoadState=not-found\n"), "http://h:1")
    assert would["changed"] is False and "does not exist yet" in would["msg"]
    wait = fresh()
    wait.see_lines([line("SIGTERM received. signum=None frame=None. Draining")], 105.0)
    stopped = outcome.ended("failed", RUNNING, wait, [], (), 110.0)
    assert stopped["msg"] == "sglang.service was stopped or restarted while it was starting up."
