# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""sglang_remedy_info: from a failure to a note, and from a note to the next run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.inferops.sglang.plugins.modules import sglang_remedy_info

DIAGNOSIS = {
    "signature": "warm-up-timeout",
    "title": "The warm-up request was not answered in time",
    "remedies": [{"kind": "environment", "value": "SGLANG_WARMUP_TIMEOUT=1800", "unattended": True, "note": ""}],
}
FAILURE = {
    "diagnosis": DIAGNOSIS,
    "failure_message": "sglang.service died while warming up.\n  remedy 1: SGLANG_WARMUP_TIMEOUT",
}
LINE = 'sglang_service_environment: {SGLANG_WARMUP_TIMEOUT: "1800"}'


class Ended(SystemExit):
    """What exit_json and fail_json do to a module."""

    def __init__(self, failed: bool, result: dict[str, Any], warnings: list[str]) -> None:
        super().__init__(result.get("msg"))
        self.failed, self.result, self.warnings = failed, result, warnings


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run the module's main; the note lies in tmp_path."""

    def run_with(**params: Any) -> Ended:
        warnings: list[str] = []

        class Module:
            def __init__(self, **arguments: Any) -> None:
                assert arguments["supports_check_mode"]
                spec = arguments["argument_spec"]
                given = {"note": str(tmp_path / "note.yaml"), "unit": "sglang.service", **params}
                self.params = {name: given.get(name, option.get("default")) for name, option in spec.items()}
                self.warn = warnings.append

            def exit_json(self, **result: Any) -> None:
                raise Ended(False, result, warnings)

            def fail_json(self, **result: Any) -> None:
                raise Ended(True, result, warnings)

        monkeypatch.setattr(sglang_remedy_info, "AnsibleModule", Module)
        with pytest.raises(Ended) as ended:
            sglang_remedy_info.main()
        return ended.value

    return run_with


def test_a_remedy_lives_from_the_failure_to_the_inventory(run: Any, tmp_path: Path) -> None:
    inventory: dict[str, Any] = {"allowed": ["environment"], "environment": {"A": "1"}}
    chosen = run(**FAILURE, **inventory)
    assert not chosen.failed
    assert chosen.result["environment"] == {"A": "1", "SGLANG_WARMUP_TIMEOUT": "1800"}
    assert LINE in chosen.warnings[0]
    assert "sglang.service died while warming up." in chosen.warnings[0]
    assert not (tmp_path / "note.yaml").exists(), "the role writes it, once the parser has agreed"
    (tmp_path / "note.yaml").write_text(chosen.result["note_text"])

    standing = run(**inventory)
    assert standing.result["stands"]
    assert standing.result["environment"] == chosen.result["environment"]
    assert LINE in standing.warnings[0]

    again = run(**FAILURE, **inventory)
    assert again.failed
    assert "only one is applied at a time" in again.result["msg"]

    permanent = run(allowed=[], environment=standing.result["environment"])
    assert permanent.result["over"] == "the inventory holds it now"
    assert permanent.result["remedy"] == {}
    assert "the inventory holds it now" in permanent.warnings[0]


def test_without_a_note_nothing_is_said(run: Any) -> None:
    ended = run(allowed=["environment"], arguments={"tp_size": 8})
    assert ended.warnings == []
    assert ended.result["arguments"] == {"tp_size": 8}
    assert (ended.result["stands"], ended.result["over"], ended.result["note_text"]) == (False, "", "")


def test_a_failure_that_may_not_be_remedied_is_the_failure_still(run: Any) -> None:
    ended = run(**FAILURE, allowed=["server_args"])
    assert ended.failed
    assert ended.result["msg"].startswith(FAILURE["failure_message"])
    assert ended.result["diagnosis"] == DIAGNOSIS
    assert "lists neither environment nor warm-up-timeout" in ended.result["msg"]


def test_a_damaged_note_is_refused_with_the_way_out(run: Any, tmp_path: Path) -> None:
    (tmp_path / "note.yaml").write_text("# half a no")
    ended = run()
    assert ended.failed
    assert "Delete it, and the service is deployed as the inventory says." in ended.result["msg"]


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"allowed": ["enviroment"]}, "did you mean environment?"),
        ({**FAILURE, "allowed": ["environment"], "arguments": {"a_b": 1, "a-b": 2}}, "a-b is given twice"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(run: Any, params: dict[str, Any], sentence: str) -> None:
    ended = run(**params)
    assert ended.failed
    assert sentence in ended.result["msg"]


def test_the_operators_own_signature_may_be_allowed(run: Any) -> None:
    assert run(allowed=["ours"]).failed
    assert not run(allowed=["ours"], signatures=["ours"]).failed


def test_the_documentation_names_every_value(run: Any) -> None:
    documented = set(yaml.safe_load(sglang_remedy_info.RETURN))
    chosen = run(**FAILURE, allowed=["environment"])
    assert set(chosen.result) - {"changed"} <= documented
    left = run(**FAILURE)
    assert set(left.result) - {"msg"} <= documented
