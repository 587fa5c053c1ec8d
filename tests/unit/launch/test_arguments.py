# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From an inventory's dict to a config file and a command line, by what SGLang's parser answered."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.arguments import (
    ArgumentsError,
    normalise,
    plan,
    redacted,
    render,
)


def answer(**arguments: dict[str, Any]) -> dict[str, Any]:
    return {"version": "0.5.23", "options": ["--tp-size", "--port", "--trust-remote-code"], "arguments": arguments}


def verdict(option: str, kind: str = "value", single: bool = True, error: str = "") -> dict[str, Any]:
    return {"option": option, "kind": kind, "single": single, "error": error}


def test_every_spelling_becomes_one() -> None:
    assert normalise({"--tp_size": 8, "model-path": "/m"}) == {"tp-size": ["8"], "model-path": ["/m"]}


def test_values_become_words() -> None:
    given = {
        "flag": True,
        "list": [1, 2],
        "json": {"a": [True]},
        "float": 0.1,
        "none": None,
        "mixed": [{"b": 1}, False],
    }
    assert normalise(given) == {
        "flag": True, "list": ["1", "2"], "json": ['{"a": [true]}'], "float": ["0.1"], "mixed": ['{"b": 1}', "false"],
    }  # fmt: skip


def test_an_argument_given_twice_is_refused_by_name() -> None:
    with pytest.raises(ArgumentsError, match="tp-size is given twice"):
        normalise({"tp-size": 1, "tp_size": 2})


def test_the_config_file_cannot_name_another() -> None:
    with pytest.raises(ArgumentsError, match="config is the file that is being written"):
        normalise({"config": "/x.yaml"})


def test_values_and_switches_go_into_the_file_and_pairs_onto_the_command_line() -> None:
    requested = normalise({"tp": 8, "trust": True, "off": False, "pair": False, "other": True, "many": [1, 2]})
    result = plan(
        requested,
        answer(
            tp=verdict("--tp-size"),
            trust=verdict("--trust-remote-code", "flag"),
            off=verdict("--off", "flag"),
            pair=verdict("--pair", "toggle"),
            other=verdict("--other", "other"),
            many=verdict("--many", single=False),
        ),
    )
    assert result.config == {"tp-size": "8", "trust-remote-code": True, "many": ["1", "2"]}
    assert result.command_line == ["--other", "--no-pair"]


@pytest.mark.parametrize(
    ("value", "judged", "sentence"),
    [
        (1, {}, "SGLang 0.5.23 has no option --tp-sise; did you mean --tp-size?"),
        (1, {"ambiguous": ["--tp-a", "--tp-b"]}, "tp-sise is short for several options"),
        ("yes", verdict("--x", "flag"), "--x of SGLang 0.5.23 is a switch: give true or false, not 'yes'."),
        (True, verdict("--x"), "--x of SGLang 0.5.23 takes a value, not true."),
        ("z", verdict("--x", error="invalid choice: 'z'"), "--x of SGLang 0.5.23 refuses 'z': invalid choice: 'z'."),
    ],
)
def test_each_mistake_is_a_sentence(value: Any, judged: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ArgumentsError) as caught:
        plan(normalise({"tp-sise": value}), answer(**{"tp-sise": judged}))
    assert sentence in str(caught.value)


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(ArgumentsError) as caught:
        plan(normalise({"a": 1, "b": 2}), answer(a={}, b={}))
    assert len(caught.value.problems) == 2


def test_the_file_is_yaml_whose_values_survive() -> None:
    yaml = pytest.importorskip("yaml")
    config = {
        "model-path": '/srv/it\'s 100% "x" $HOME: #1',
        "flag": True,
        "json": json.dumps({"a": "ü"}),
        "many": ["1", "2"],
    }
    assert yaml.safe_load(render(config, "two\nlines")) == config


def test_the_order_of_an_inventory_changes_nothing() -> None:
    known = answer(a=verdict("--a"), b=verdict("--b"), c=verdict("--c", "toggle"), d=verdict("--d", "toggle"))
    given = {"a": 1, "b": 2, "c": True, "d": False}
    one, other = (plan(normalise(order), known) for order in (given, dict(reversed(given.items()))))
    assert render(one.config, "") == render(other.config, "")
    assert one.command_line == other.command_line


def test_a_diff_never_shows_a_secret() -> None:
    text = render({"api-key": "hunter2", "port": "1"}, "header")
    shown = redacted(text, ["api-key"])
    assert "hunter2" not in shown
    assert 'port: "1"' in shown
