# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop of a wait: look, ask, judge, twice a second, until it is over or the slice is.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import queue
import threading
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Callable

from ansible_collections.inferops.sglang.plugins.module_utils._core.serving import probe
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.readiness import READY, WAITING, Wait
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.unit import UnitState

STEP_SECONDS = 0.5
# The log says when the server is up; should it be silent (log level), the server itself is asked now and then. Not more
# often, because each question is a line in its access log.
UNANNOUNCED_SECONDS = 5.0
# The end is near: look more often, and begin no new slice, which would be blind while Python starts.
_NEARLY_UP = ("http_start", "warmup")
NEAR_STEP_SECONDS = 0.15
NEAR_SECONDS = 30.0  # a warm-up that takes longer than this is compiling, and looked at like everything else
_OVER = ("serving", "shutdown")


@dataclass(frozen=True)
class Question:
    """What is asked of the server, twice."""

    endpoint: probe.Endpoint
    prompt: str
    model: str = ""
    request_timeout_seconds: float = 60.0


class Prober:
    """Asks in the background, so that a server that hangs does not stop the look at its journal."""

    def __init__(self, question: Question, wake: threading.Event) -> None:
        self._question = question
        self._wake = wake
        self._results: queue.Queue = queue.Queue()
        self._thread: threading.Thread | None = None
        self.models: list[str] = []

    @property
    def busy(self) -> bool:
        """True while a question is unanswered."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, warm: bool) -> None:
        """Ask; `warm` tells that the log already said that the server serves."""
        self._thread = threading.Thread(target=self._ask, args=(warm,), daemon=True)
        self._thread.start()

    def answers(self) -> list[probe.Answer]:
        """Answers since the last call."""
        found = []
        while not self._results.empty():
            found.append(self._results.get())
        return found

    def _ask(self, warm: bool) -> None:
        question = self._question
        try:
            if not warm and probe.still_warming_up(question.endpoint, 2.0):
                return
            if not self.models:
                self.models = probe.served_models(question.endpoint, 5.0)
            if question.model and self.models and question.model not in self.models:
                wrong = f"the server serves {', '.join(self.models)}, not model={question.model}"
                for _attempt in range(3):
                    self._results.put(probe.Answer(problem=wrong, final=True))
                return
            model = question.model or (self.models[0] if self.models else "")
            # The same prompt again: some failures need a cached prefix (sglang#28528). That shows within fewer tokens.
            for tokens in (probe.MAX_TOKENS, probe.MAX_TOKENS // 2):
                answer = probe.generate(
                    question.endpoint, model, question.prompt, question.request_timeout_seconds, tokens
                )
                if question.model and not self.models and not answer.problem:
                    unknown = f"it generates, but /v1/models does not tell whether it serves model={question.model}"
                    answer = replace(answer, problem=unknown)
                self._results.put(answer)
                if answer.problem:
                    return
            self._wake.set()
        except Exception as error:  # a thread's exception would vanish, and the wait with it
            self._results.put(probe.Answer(problem=f"asking failed: {error!r}"))


def watch(
    wait: Wait,
    host: Any,
    journal: Any,
    question: Question,
    slice_seconds: float,
    clock: Callable[[], float] = time.time,
    make_prober: Callable[[Question, threading.Event], Any] = Prober,
) -> tuple[str, UnitState, Any]:
    """Wait until the verdict is anything but `waiting`, or until the slice is over (0 means no slices).

    Returns the verdict, the last look at the unit, and the prober (for the models it saw).
    """
    wake = threading.Event()
    prober = make_prober(question, wake)
    slice_end = clock() + slice_seconds if slice_seconds else float("inf")
    next_question = 0.0
    while True:
        now = clock()
        near = _nearly_up(wait, now)
        slice_is_over = now >= slice_end and not prober.busy and not near
        for answer in prober.answers():
            wait.see_answer(answer, now)
        unit = host.unit()
        journal.read_into(partial(wait.see_lines, now=now))
        wait.see_unit(unit, now)
        owner, wait.foreign_port = host.listening(unit) if unit.running else ("nobody", "")
        wait.see_socket(owner)
        if owner == "ours" and not wait.node_rank:
            announced = wait.timeline.phase == "serving"
            free = not (prober.busy or slice_is_over) and wait.terminal_at is None and len(wait.good) < 2
            if free and (announced or now >= next_question):
                prober.start(warm=announced)
                next_question = now + UNANNOUNCED_SECONDS
        if wait.timeline.phase not in _OVER:
            taken_in, compiling = host.working(unit)
            wait.see_work(taken_in, compiling, now)
        verdict = wait.verdict(now)
        if verdict == READY and owner != "ours" and not wait.node_rank:
            wait.good.clear()
            verdict = WAITING
        if verdict != WAITING or (slice_is_over and wait.terminal_at is None):
            return verdict, unit, prober
        step = NEAR_STEP_SECONDS if near else STEP_SECONDS
        if wait.terminal_at is not None:
            step = min(step, max(0.01, wait.terminal_at + wait.limits.settle - now))
        wake.wait(step)
        wake.clear()


def _nearly_up(wait: Wait, now: float) -> bool:
    reached = wait.timeline.reached[-1:]
    return any(phase.name in _NEARLY_UP and now - (phase.time or 0.0) < NEAR_SECONDS for phase in reached)
