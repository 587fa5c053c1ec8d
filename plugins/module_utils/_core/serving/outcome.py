# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The end of a wait as a result: the facts, and the sentence for people.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from typing import Any, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis import report
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.engine import diagnose
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.evidence import show
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.exits import UnitExit
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.log import Entry
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import Signature
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.phases import TITLES, Timeline
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.readiness import (
    READY,
    REFUSED,
    STALLED,
    TIMEOUT,
    Wait,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.stacks import in_words
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.unit import UnitState


def in_check_mode(unit: UnitState, url: str) -> dict[str, Any]:
    """What would be waited for; nothing is."""
    state = f"{unit.name} is {unit.active} ({unit.sub})" if unit.exists else f"{unit.name} does not exist yet"
    return {
        "changed": False,
        "ready": False,
        "finished": True,
        "msg": f"Would wait until {unit.name} answers two chat completions at {url}; now {state}.",
    }


def not_running(unit: UnitState, wait: Wait, signatures: Sequence[Signature]) -> dict[str, Any]:
    """Why there is nothing to wait for."""
    if not unit.exists:
        how = "is masked" if unit.load == "masked" else "does not exist on this host"
        return _result(False, f"The unit {unit.name} {how}; nothing can become ready. Check the option unit.")
    crashed = unit.active == "failed" or unit.sub == "auto-restart" or unit.result != "success"
    if not crashed:
        return _result(
            False,
            f"{unit.name} is not running ({unit.active}); start it before waiting for it.",
            invocation_id=unit.invocation,
        )
    return _died(unit, wait, signatures, 0.0)


def ended(
    verdict: str,
    unit: UnitState,
    wait: Wait,
    models: list[str],
    signatures: Sequence[Signature],
    now: float,
    journal_problem: str = "",
    stacks: tuple[list[dict[str, Any]], str] = ([], ""),
    nnodes: int = 0,
) -> dict[str, Any]:
    """The result of a wait that is over. `stacks` is where the ranks of a stuck server stand, or why that is unknown."""
    started = next((entry.time for entry in wait.log.entries if entry.time is not None), wait.started)
    seconds = round(max(0.0, now - started), 2)
    if verdict == READY and wait.node_rank:
        return _worker_up(unit, wait, nnodes, seconds, now)
    if verdict == READY:
        return _ready(unit, wait, models, seconds, now)
    if verdict == REFUSED:
        result = _result(
            False,
            f"{unit.name} runs, but it is not usable: {wait.problem}.",
            phases=wait.timeline.seconds(now),
            early_warnings=diagnose(wait.log.entries)["early_warnings"],
        )
    elif verdict in (STALLED, TIMEOUT):
        result = _gave_up(verdict, unit, wait, now, *stacks)
    else:
        result = _died(unit, wait, signatures, seconds)
    if journal_problem:
        result["msg"] += f" The journal could not be read: {journal_problem}"
    return dict(result, seconds=seconds, invocation_id=wait.invocation)


def diagnosed(
    name: str, entries: list[Entry], unit: UnitState | None, signatures: Sequence[Signature]
) -> dict[str, Any]:
    """The result of a diagnosis without a wait. `unit` is given where its present invocation is the one diagnosed."""
    over = unit is not None and not unit.running
    known = UnitExit(unit.exit_code, unit.exit_status, unit.result) if unit is not None and over else None
    diagnosis = diagnose(entries, known, signatures)
    timeline = Timeline()
    timeline.feed(entries)
    if not entries:
        msg = f"{name} holds no lines: the journal was rotated or is volatile, or nothing ran. That is no proof of health."
    elif diagnosis["failed"]:
        msg = report.headline(name, diagnosis)
    else:
        msg = f"No failure in {name}; it came as far as {diagnosis['phase_title']}."
    text = report.readable(name, diagnosis) if diagnosis["failed"] else msg
    return {"changed": False, "msg": msg, "readable": text, "phases": timeline.seconds(), "diagnosis": diagnosis}


def _result(ready: bool, msg: str, **more: Any) -> dict[str, Any]:
    return dict({"changed": False, "ready": ready, "finished": True, "msg": msg}, **more)


def _ready(unit: UnitState, wait: Wait, models: list[str], seconds: float, now: float) -> dict[str, Any]:
    return _result(
        True,
        f"{unit.name} generates, {seconds:.1f} s after its start.",
        seconds=seconds,
        time_to_first_answer=round(wait.good[0].seconds, 3),
        answer=_printable(wait.good[-1].text),
        served_models=models,
        # A server that has been up for days spent no part of its start in that.
        phases=[phase for phase in wait.timeline.seconds(now) if phase["name"] != "serving"],
        invocation_id=wait.invocation,
        early_warnings=diagnose(wait.log.entries)["early_warnings"],
    )


def _worker_up(unit: UnitState, wait: Wait, nnodes: int, seconds: float, now: float) -> dict[str, Any]:
    """A node that serves no API. Its /health always says 200, so it is not asked."""
    which = f"node_rank {wait.node_rank}" + (f" of {nnodes} nodes" if nnodes else "")
    return _result(
        True,
        f"{unit.name} ({which}) has its schedulers up, {seconds:.1f} s after its start; generation is judged on node_rank 0.",
        seconds=seconds,
        phases=wait.timeline.seconds(now),
        invocation_id=wait.invocation,
        early_warnings=diagnose(wait.log.entries)["early_warnings"],
    )


def _printable(text: str) -> str:
    """A model may say anything; a terminal should not obey it."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "\ufffd" for letter in text.strip()[:500])


def _died(unit: UnitState, wait: Wait, signatures: Sequence[Signature], seconds: float) -> dict[str, Any]:
    """The unit ended, or printed that it is over. What systemd knows of the end counts only for this invocation."""
    same = unit.invocation == wait.invocation and not unit.running
    known = UnitExit(unit.exit_code, unit.exit_status, unit.result) if same else None
    diagnosis = diagnose(wait.log.entries, known, signatures, ending_is_failure=same)
    if diagnosis["signature"] == "port-in-use" and wait.foreign_port:
        diagnosis["cause"] += f" Now {wait.foreign_port}."
    if diagnosis["failed"]:
        msg = report.headline(unit.name, diagnosis)
    else:
        msg = f"{unit.name} was stopped or restarted while it was {_before_stop(wait)}."
    return _result(
        False,
        msg,
        diagnosis=diagnosis,
        readable=report.readable(unit.name, diagnosis) if diagnosis["failed"] else msg,
        phases=wait.timeline.seconds(),
        early_warnings=diagnosis["early_warnings"],
        invocation_id=wait.invocation,
        seconds=seconds,
    )


def _before_stop(wait: Wait) -> str:
    names = [reached.name for reached in wait.timeline.reached if reached.name != "shutdown"]
    return TITLES[names[-1]] if names else TITLES["startup"]


def _gave_up(
    verdict: str, unit: UnitState, wait: Wait, now: float, stacks: list[dict[str, Any]], unknown: str
) -> dict[str, Any]:
    """Alive, and yet no generation: say where it stands and show its last lines."""
    phase = wait.timeline.phase
    where = TITLES[phase] + (f" ({wait.timeline.progress})" if wait.timeline.progress else "")
    if verdict == STALLED:
        whose = "stall_seconds" if wait.limits.stall else "the limit of this phase; stall_seconds sets another"
        msg = f"{unit.name} is stuck while {where}: nothing printed, read or compiled for {now - wait.changed:.0f} s ({whose})."
    else:
        msg = f"{unit.name} did not generate within {wait.limits.timeout:.0f} s (timeout_seconds); it was {where}."
    if wait.foreign_port:
        msg += f" {wait.foreign_port[0].upper()}{wait.foreign_port[1:]}."
    elif wait.problem:
        msg += f" The last answer: {wait.problem}."
    if stacks:
        msg += f" {in_words(stacks)}"
    elif unknown and verdict == STALLED:
        msg += f" Where each rank stands is unknown: {unknown}."
    diagnosis = dict(
        diagnose(wait.log.entries),
        failed=True,
        signature=verdict,
        title="It hangs" if verdict == STALLED else "It was not ready in time",
        cause=msg,
        evidence=[show(entry) for entry in wait.log.entries if entry.text.strip()][-20:],
    )
    return _result(
        False,
        msg,
        diagnosis=diagnosis,
        readable="\n".join([msg, *("  | " + line for line in diagnosis["evidence"][-10:])]),
        phases=wait.timeline.seconds(now),
        early_warnings=diagnosis["early_warnings"],
        stacks=stacks,
    )
