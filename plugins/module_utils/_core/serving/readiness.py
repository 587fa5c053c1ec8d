# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a wait is over: pure rules over what was seen, with the clock handed in.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Iterable

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.engine import is_stop, is_terminal
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.log import UNIT, Entry, Log
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.phases import TITLES, Timeline
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.probe import Answer, judge_text
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.stall import Intake, limit_of
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.unit import UnitState

WAITING, READY, FAILED, STALLED, TIMEOUT, REFUSED = "waiting", "ready", "failed", "stalled", "timeout", "refused"
# The wait's own requests in the access log are no sign of life.
_OWN_QUESTIONS = re.compile(r'"(?:GET|POST) /(?:ready|v1/models|v1/chat/completions|health)[^"]*" \d')
SETTLE_SECONDS = 1.5  # after a terminal line: the failing rank may write after its parent's obituary
# A node of rank 1 or higher serves no API; once its schedulers are up it answers /health with 200, whatever they do
# (0.5.23, utils/common.py:3624). It binds only then, so its socket tells as much as this line.
_WORKER_IS_UP = re.compile(r"Dummy health check server (?:started|scheduled)")
ATTEMPTS = 3  # wrong texts in a row until the answer is judged, not the moment


@dataclass(frozen=True)
class Limits:
    """All in seconds; a stall of 0 leaves each phase its own."""

    timeout: float = 3600.0
    stall: float = 0.0
    settle: float = SETTLE_SECONDS


@dataclass
class Wait:
    """The state of one wait. Everything in `saved()` survives from one slice to the next; the rest is read anew."""

    limits: Limits
    expect: str = ""
    node_rank: int = 0
    started: float = 0.0
    changed: float = 0.0
    invocation: str = ""
    restarts: int = 0
    wrong: int = 0
    newest: float = 0.0
    intake: Intake = field(default_factory=Intake)
    timeline: Timeline = field(default_factory=Timeline)
    log: Log = field(default_factory=Log)
    good: list[Answer] = field(default_factory=list)
    terminal_at: float | None = None
    problem: str = ""
    foreign_port: str = ""
    schedulers_up: bool = False

    def saved(self) -> dict[str, Any]:
        """What the next slice needs."""
        return {
            "started": self.started,
            "changed": self.changed,
            "invocation": self.invocation,
            "restarts": self.restarts,
            "wrong": self.wrong,
            "newest": self.newest,
            "intake": [self.intake.total, self.intake.at],
        }

    def resume(self, saved: dict[str, Any]) -> None:
        """Continue where another slice ended."""
        self.started, self.changed = float(saved["started"]), float(saved["changed"])
        self.invocation, self.restarts = str(saved["invocation"]), int(saved["restarts"])
        self.wrong, self.newest = int(saved["wrong"]), float(saved["newest"])
        self.intake = Intake(int(saved["intake"][0]), float(saved["intake"][1]))

    def begin(self, unit: UnitState, now: float) -> None:
        """Bind the wait to the unit's present invocation."""
        self.started = self.changed = now
        self.invocation, self.restarts = unit.invocation, unit.restarts

    def see_lines(self, lines: Iterable[Entry], now: float) -> None:
        """Take new lines of the invocation's journal, of which there can be more than memory should hold."""
        for line in lines:
            self.log.extend((line,))
            self.timeline.feed((line,))
            if line.source == UNIT and not _OWN_QUESTIONS.search(line.text):
                written = now if line.time is None else line.time
                if written > self.newest:  # a new slice reads the old lines again, which is no news
                    self.newest, self.changed = written, now
            if self.node_rank and _WORKER_IS_UP.search(line.text):
                self.schedulers_up = True
            if self.terminal_at is None and (is_terminal(line) or is_stop(line)):
                # Reading on is counted from when the line was written, not from when it was seen.
                self.terminal_at = now if line.time is None else min(now, line.time)

    def see_work(self, taken_in: int, compiling: bool, now: float) -> None:
        """The service prints nothing while it reads (bytes so far) or compiles; both show that it works."""
        if self.intake.is_work(taken_in, now) or compiling:
            self.changed = now

    def see_socket(self, owner: str) -> None:
        """Take who listens on the port; a worker node binds it when its schedulers are up."""
        self.schedulers_up = self.schedulers_up or bool(self.node_rank and owner == "ours")

    def see_unit(self, unit: UnitState, now: float) -> None:
        """Take a look at the unit: anything but this invocation running on is the end of it."""
        lost = unit.invocation != self.invocation or unit.restarts != self.restarts or not unit.running
        if lost and self.terminal_at is None:
            self.terminal_at = now

    def see_answer(self, answer: Answer, now: float) -> None:
        """Take the result of one generation."""
        if answer.status:
            self.changed = now  # an unanswered question is no sign of life
        self.problem = answer.problem or judge_text(answer.text, self.expect)
        if self.problem:
            self.good.clear()
            self.wrong += 0 if answer.problem and not answer.final else 1
        else:
            self.good.append(answer)

    def verdict(self, now: float) -> str:
        """The state of the wait at this moment."""
        if self.terminal_at is not None:
            return FAILED if now - self.terminal_at >= self.limits.settle else WAITING
        if len(self.good) >= 2 or self.schedulers_up:
            return READY
        if self.wrong >= ATTEMPTS:
            return REFUSED
        if now - self.started >= self.limits.timeout:
            return TIMEOUT
        if now - self.changed >= self.stall_limit:
            return STALLED
        return WAITING

    @property
    def stall_limit(self) -> float:
        """Seconds of silence that the present phase may last."""
        return limit_of(self.timeline.phase, self.limits.stall)

    def progress(self, now: float) -> str:
        """What a person wants to know meanwhile: `loading weights 26/64  41 s`."""
        words = [TITLES[self.timeline.phase]]
        if self.timeline.progress:
            words.append(self.timeline.progress + (" shards" if self.timeline.phase == "weight_load" else ""))
        if self.foreign_port:
            words = [self.foreign_port]
        elif self.problem and self.timeline.phase in ("warmup", "serving"):
            words.append(f"({self.problem})")
        return " ".join(words) + f"  {now - self.started:.0f} s"
