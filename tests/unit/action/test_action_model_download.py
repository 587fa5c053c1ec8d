# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action plugin calls the module slice by slice, shows where it stands, and returns the last word."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.action import model_download
from ansible_collections.inferops.sglang.plugins.action.model_download import ActionModule

ARGUMENTS = {"repository": "org/m", "path": "/models/m", "token": "hf_secret"}


class Slices:
    """Plays the module: one result after the other."""

    def __init__(self, *results: dict[str, Any]) -> None:
        self.results = list(results)
        self.calls: list[dict[str, Any]] = []

    def __call__(self, _name: str, module_args: dict[str, Any], **options: Any) -> dict[str, Any]:
        self.calls.append(dict(module_args, **{name: value for name, value in options.items() if name == "wrap_async"}))
        return self.results.pop(0)


def run(monkeypatch: pytest.MonkeyPatch, slices: Slices, async_val: int = 0) -> tuple[dict[str, Any], list[str]]:
    task = SimpleNamespace(args=ARGUMENTS, async_val=async_val, action="model_download", check_mode=False)
    lines: list[str] = []
    monkeypatch.setattr(model_download.display, "display", lines.append)
    action = ActionModule.__new__(ActionModule)
    action._task = task
    monkeypatch.setattr(ActionModule.__bases__[0], "run", lambda *_arguments, **_options: {})
    monkeypatch.setattr(action, "_execute_module", slices, raising=False)
    return action.run(task_vars={"inventory_hostname": "b300-01"}), lines


def test_slices_hand_their_memory_on_until_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    slices = Slices(
        {"finished": False, "progress": "12 %", "resume": {"commit": "c"}},
        {"finished": False, "progress": "50 %", "resume": {"commit": "c", "n": 1}},
        {"finished": True, "changed": True},
    )
    result, lines = run(monkeypatch, slices)
    assert result == {"finished": True, "changed": True}
    assert [call.get("resume") for call in slices.calls] == [None, {"commit": "c"}, {"commit": "c", "n": 1}]
    assert lines == ["b300-01  12 %"]


@pytest.mark.parametrize("failure", [{"failed": True, "finished": False, "msg": "no"}, {"failed": True, "msg": "no"}])
def test_a_failure_ends_it(monkeypatch: pytest.MonkeyPatch, failure: dict[str, Any]) -> None:
    slices = Slices({"finished": False, "progress": "12 %", "resume": {}}, failure)
    assert run(monkeypatch, slices)[0] == failure
    assert len(slices.calls) == 2


def test_in_the_background_it_is_one_slice_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    slices = Slices({"started": 1, "ansible_job_id": "j"})
    result, lines = run(monkeypatch, slices, async_val=600)
    assert result["ansible_job_id"] == "j"
    assert slices.calls == [dict(ARGUMENTS, slice_seconds=0, wrap_async=True)]
    assert lines == []
