# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""unit_failure_info: which invocation it takes, and that it returns what its documentation promises."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from ansible_collections.inferops.sglang.plugins.modules import unit_failure_info

LOGS = Path(__file__).resolve().parents[2] / "corpus" / "logs"
FIRST, SECOND, THIRD = "1" * 32, "2" * 32, "3" * 32
MESSAGES = {
    FIRST: "ValueError: the first start",
    SECOND: "ValueError: the second start",
    THIRD: "ValueError: the third start",
}


class Ended(SystemExit):
    """What exit_json and fail_json do to a module."""

    def __init__(self, failed: bool, result: dict[str, Any]) -> None:
        super().__init__(result.get("msg"))
        self.failed = failed
        self.result = result


def journalctl(argv: list[str]) -> str:
    """Three failed starts, as journalctl tells of them."""
    if "_PID=1" in argv:
        return "\n".join(json.dumps({"INVOCATION_ID": one}) for one in (FIRST, SECOND, SECOND, THIRD))
    wanted = next(word.split("=")[1] for word in argv if word.startswith("_SYSTEMD_INVOCATION_ID="))
    lines = ["Scheduler hit an exception: Traceback (most recent call last):", '  File "a.py", line 1, in f']
    if wanted in MESSAGES:
        lines.append(MESSAGES[wanted])
    return "\n".join(json.dumps({"MESSAGE": line, "_PID": "7"}) for line in lines)


def run(monkeypatch: pytest.MonkeyPatch, journal_status: int = 0, **params: Any) -> Ended:
    """Run the module's main with a host that is made up."""

    class Module:
        def __init__(self, **arguments: Any) -> None:
            assert arguments["supports_check_mode"]
            spec = arguments["argument_spec"]
            self.params = {name: params.get(name, option.get("default")) for name, option in spec.items()}

        def run_command(
            self, argv: list[str], before_communicate_callback: Any = None, **_options: Any
        ) -> tuple[int, str, str]:
            if argv[0] == "systemctl":
                state = {"LoadState": "loaded", "ActiveState": "failed", "Result": "signal", "InvocationID": THIRD}
                return 0, "\n".join(f"{name}={value}" for name, value in state.items()), ""
            if journal_status and "_PID=1" not in argv:
                return journal_status, "", "No journal files were opened"
            if before_communicate_callback is None:
                return 0, journalctl(argv), ""
            before_communicate_callback(SimpleNamespace(stdout=io.BytesIO(journalctl(argv).encode())))
            return 0, "", ""

        def exit_json(self, **result: Any) -> None:
            raise Ended(False, result)

        def fail_json(self, **result: Any) -> None:
            raise Ended(True, result)

    monkeypatch.setattr(unit_failure_info, "AnsibleModule", Module)
    with pytest.raises(Ended) as ended:
        unit_failure_info.main()
    return ended.value


@pytest.mark.parametrize(
    ("invocation", "expected"),
    [("latest", THIRD), ("-1", SECOND), ("-2", FIRST), (FIRST, FIRST), (SECOND, SECOND)],
)
def test_the_invocation_that_was_asked_for(monkeypatch: pytest.MonkeyPatch, invocation: str, expected: str) -> None:
    """The latest, one before it, or the one with this ID."""
    ended = run(monkeypatch, unit="sglang.service", invocation=invocation)
    assert not ended.failed
    assert ended.result["invocation_id"] == expected
    assert ended.result["diagnosis"]["cause_line"] == MESSAGES[expected]


@pytest.mark.parametrize(
    ("invocation", "says"),
    [
        ("-3", "invocation is -3, but the journal knows 3 invocations of sglang.service"),
        ("yesterday", "give an invocation ID (32 hex digits), latest, or -1, -2"),
    ],
)
def test_an_invocation_that_there_is_not(monkeypatch: pytest.MonkeyPatch, invocation: str, says: str) -> None:
    """A sentence with the value and the way out."""
    ended = run(monkeypatch, unit="sglang.service", invocation=invocation)
    assert ended.failed and says in ended.result["msg"]


def test_a_journal_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """No lines is not no error."""
    ended = run(monkeypatch, unit="sglang.service", journal_status=1)
    assert ended.failed and "No journal files were opened" in ended.result["msg"]


@pytest.mark.parametrize("log", ["tp2.log", "mainterm.log"])
def test_what_it_returns_is_what_it_documents(monkeypatch: pytest.MonkeyPatch, log: str) -> None:
    """Every documented key is there, of its documented type, after a crash and after a clean stop; and no other key."""
    result = run(monkeypatch, path=str(LOGS / log)).result
    documented = yaml.safe_load(unit_failure_info.RETURN)
    kinds = {"str": str, "bool": bool, "list": list, "dict": dict}
    assert set(result) - {"changed"} == set(documented) - {"invocation_id"}
    diagnosis, fields = result["diagnosis"], documented["diagnosis"]["contains"]
    assert set(diagnosis) == set(fields)
    for name, field in fields.items():
        assert isinstance(diagnosis[name], kinds[field["type"]]), name
        if field.get("elements") and diagnosis[name]:
            assert isinstance(diagnosis[name][0], {"int": int, **kinds}[field["elements"]]), name


def test_a_file_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path stands in the message."""
    ended = run(monkeypatch, path="/nowhere/crash.log")
    assert ended.failed and "path is /nowhere/crash.log, which cannot be read" in ended.result["msg"]


def test_a_users_pattern_sees_routine_lines_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Which are otherwise passed over, and here by the thousand."""
    routine = "[2026-11-30 10:00:00 TP0] Decode batch, #running-req: {}, token usage: 0.03, #queue-req: 0\n"
    crash = "[2026-11-30 12:00:00 TP0] Scheduler hit an exception: Traceback (most recent call last):\n"
    crash += '  File "a.py", line 1, in f\nValueError: x\n'
    log = tmp_path / "crash.log"
    log.write_text("".join(routine.format(n) for n in range(2000)) + crash)
    mine = [{"id": "crowded", "line": r"#running-req: 777,"}]
    assert run(monkeypatch, path=str(log), signatures=mine).result["diagnosis"]["signature"] == "crowded"
    assert run(monkeypatch, path=str(log), signatures=[]).result["diagnosis"]["signature"] == "unknown"
