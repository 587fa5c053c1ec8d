# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half: slices, progress, and one readable message."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from ansible_collections.inferops.sglang.plugins.action import endpoint_ready


class Shown:
    """Stands for Ansible's Display."""

    lines: list[str] = []  # noqa: RUF012

    def display(self, text: str) -> None:
        """Remember a line."""
        self.lines.append(text)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the plugin against given answers of the module; returns result, calls and lines."""
    monkeypatch.setattr(endpoint_ready, "Display", Shown)
    monkeypatch.setattr(endpoint_ready.ActionBase, "run", lambda *_args, **_more: {})

    def runner(answers: list[dict[str, Any]], no_log: bool = False, **args: Any) -> Any:
        Shown.lines = []
        plugin = endpoint_ready.ActionModule.__new__(endpoint_ready.ActionModule)
        plugin._task = mock.Mock(args=dict(unit="x", **args), no_log=no_log)
        calls: list[dict[str, Any]] = []

        def execute(module_name: str, module_args: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
            assert module_name == "inferops.sglang.endpoint_ready" and task_vars
            calls.append(dict(module_args))
            return dict(answers.pop(0))

        plugin._execute_module = execute
        return plugin.run(task_vars={"inventory_hostname": "b300-01"}), calls, Shown.lines

    return runner


def slice_of(progress: str, phase: str, resume: str) -> dict[str, Any]:
    """An unfinished answer."""
    return {"finished": False, "ready": False, "progress": progress, "phase": phase, "resume": resume, "msg": progress}


def test_slices_go_on_until_it_is_ready(run: Any) -> None:
    """Each slice gets the previous one's resume; a change of phase is shown at once."""
    answers = [
        slice_of("starting up  10 s", "startup", "one"),
        slice_of("loading weights 26/64 shards  41 s", "weight_load", "two"),
        {"finished": True, "ready": True, "seconds": 51.2, "msg": "x generates"},
    ]
    result, calls, lines = run(answers)
    assert [call.get("resume") for call in calls] == [None, "one", "two"]
    assert all(call["slice_seconds"] == endpoint_ready.SLICE_SECONDS for call in calls)
    assert lines == [
        "b300-01  starting up  10 s",
        "b300-01  loading weights 26/64 shards  41 s",
        "b300-01  ready  51 s",
    ]
    assert result["ready"] and result["msg"] == "x generates"


def test_a_failure_carries_one_readable_message(run: Any) -> None:
    """And ends the slices."""
    result, calls, _lines = run([{"failed": True, "finished": True, "msg": "short", "readable": "long\n  | line"}])
    assert result["msg"] == "long\n  | line" and "readable" not in result and len(calls) == 1


def test_no_log_shows_nothing(run: Any) -> None:
    """Progress lines bypass the callback that censors."""
    run([slice_of("a", "startup", "r"), {"finished": True, "ready": True, "seconds": 1}], no_log=True)
    assert Shown.lines == []


def test_a_module_that_failed_to_run_ends_it(run: Any) -> None:
    """Unreachable or broken: no answer of ours."""
    result, calls, _lines = run([{"unreachable": True, "msg": "no route"}])
    assert result["unreachable"] and len(calls) == 1


def test_slicing_by_hand_is_left_alone(run: Any) -> None:
    """The module can be used slice by slice."""
    result, calls, _lines = run([slice_of("a", "startup", "r")], slice_seconds=3)
    assert result["finished"] is False and len(calls) == 1


READY = {
    "finished": True,
    "ready": True,
    "seconds": 1,
    "msg": "x generates.",
    "answer": "OK",
    "listening": ["127.0.0.1"],
}


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was looked at from the controller; the first look finds nobody."""
    seen: list[Any] = []

    def look(service: Any, client: Any) -> dict[str, Any]:
        seen.append((service, client))
        return {"reachable": len(seen) > 1, "problem": "x is ready on 127.0.0.1, but not reachable"}

    monkeypatch.setattr(endpoint_ready.client_look, "look", look)
    return seen


def test_a_service_that_no_client_reaches_is_a_failure(run: Any, looks: list[Any]) -> None:
    """And one that is reached says so."""
    unreachable, _calls, _lines = run(
        [READY], client_url="http://h:1", model="m", api_key="sk", client_validate_certs="no"
    )
    assert unreachable["failed"] and unreachable["ready"] and "not reachable" in unreachable["msg"]
    service, client = looks[0]
    assert (service.unit, service.model, service.listening) == ("x", "m", ["127.0.0.1"])
    assert (client.url, client.api_key, client.validate_certs) == ("http://h:1", "sk", False)
    reached, _calls, _lines = run([READY], client_url="http://h:1")
    assert "failed" not in reached and reached["msg"] == "x generates. Reached at http://h:1 from the controller."


@pytest.mark.parametrize(
    "answer",
    [
        dict(READY, ready=False),  # check mode, or not ready
        dict(READY, failed=True),
        {key: value for key, value in READY.items() if key != "answer"},  # a node that serves no API
    ],
)
def test_there_is_nothing_to_look_at(run: Any, looks: list[Any], answer: dict[str, Any]) -> None:
    """Nobody is asked."""
    run([answer], client_url="http://h:1")
    run([READY])
    assert looks == []


def test_without_requests_nobody_waits_an_hour_first(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence comes before the wait."""
    monkeypatch.setattr(endpoint_ready.client_look, "requests", None)
    result, calls, _lines = run([READY], client_url="http://h:1")
    assert result["failed"] and "pip install requests" in result["msg"] and calls == []
    assert run([READY])[0]["ready"]
