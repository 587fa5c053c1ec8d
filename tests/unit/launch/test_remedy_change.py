# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a remedy's value to a change of the inventory, over every remedy that the collection knows."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.signatures import BUILTIN
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.arguments import normalise
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.change import (
    KINDS,
    Change,
    as_yaml,
    holds,
    merged,
    parse,
)

STANDIN = Path(__file__).resolve().parents[2] / "standin"
ACTIONABLE = [
    pytest.param(remedy, id=f"{signature.id}-{remedy.value}")
    for signature in BUILTIN
    for remedy in signature.remedies
    if remedy.kind in KINDS and (remedy.unattended or parse(remedy.kind, remedy.value))
]


@pytest.fixture(scope="module")
def parser() -> argparse.ArgumentParser:
    """The stand-in's parser, whose options were read from SGLang 0.5.23."""
    sys.path.insert(0, str(STANDIN))
    try:
        from sglang.srt.server_args import ServerArgs
    finally:
        sys.path.remove(str(STANDIN))
    found = argparse.ArgumentParser(allow_abbrev=False, exit_on_error=False)
    ServerArgs.add_cli_args(found)
    return found


@pytest.mark.parametrize("remedy", ACTIONABLE)
def test_every_remedy_that_can_be_applied_is_one_that_sglang_accepts(
    remedy: Any, parser: argparse.ArgumentParser
) -> None:
    change = parse(remedy.kind, remedy.value)
    assert change is not None, "it is marked unattended, so its value must be exact"
    for option, value in change.arguments.items():
        assert "--" + option in parser._option_string_actions
        words = [] if value in (None, True) else normalise({option: value})[option]
        given = ["--model-path", "/m", *([] if value is None else ["--" + option, *words])]  # type: ignore[misc]
        parser.parse_args(given)


def test_there_are_such_remedies() -> None:
    assert len(ACTIONABLE) > 20


@pytest.mark.parametrize(
    ("kind", "value", "arguments", "environment"),
    [
        ("server_args", "--skip-server-warmup", {"skip-server-warmup": True}, {}),
        ("server_args", "--context-length 128k --tp-size 8", {"context-length": "128k", "tp-size": "8"}, {}),
        ("server_args", "--cuda-graph-bs-decode 1 2", {"cuda-graph-bs-decode": ["1", "2"]}, {}),
        ("server_args", """--json-model-override-args '{"a": 1}'""", {"json-model-override-args": '{"a": 1}'}, {}),
        ("server_args", "no --enable-torch-compile", {"enable-torch-compile": None}, {}),
        ("server_args", "no --grammar-backend --tp-size 2", {"grammar-backend": None, "tp-size": "2"}, {}),
        ("environment", "A=1 B='x y'", {}, {"A": "1", "B": "x y"}),
        ("environment", "NO_PROXY=127.0.0.1,localhost", {}, {"NO_PROXY": "127.0.0.1,localhost"}),
    ],
)
def test_an_exact_value_is_a_change(
    kind: str, value: str, arguments: dict[str, Any], environment: dict[str, str]
) -> None:
    assert parse(kind, value) == Change(arguments, environment)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("server_args", "--host 0.0.0.0, or an address of this host"),
        ("server_args", "--chat-template with a path on this host"),
        ("server_args", "a lower --mem-fraction-static"),
        ("server_args", "no speculation"),
        ("server_args", "no --speculative-algorithm, to see whether it is at fault"),
        ("server_args", "--x no"),
        ("server_args", "--x 'unbalanced"),
        ("server_args", "--context-length {model}"),
        ("server_args", "--api-key ***"),
        ("server_args", ""),
        ("environment", "NCCL_IB_DISABLE=1, to prove it"),
        ("environment", "HF_TOKEN in a file"),
        ("environment", "A=1 and more"),
        ("packages", "--looks-like-an-option"),
    ],
)
def test_advice_is_no_change(kind: str, value: str) -> None:
    assert parse(kind, value) is None


def test_a_change_wins_over_the_inventory_in_any_spelling() -> None:
    change = Change({"mm-attention-backend": "triton_attn"}, {})
    assert merged({"mm_attention_backend": "fa4", "tp-size": 8}, change) == {
        "tp-size": 8, "mm-attention-backend": "triton_attn",
    }  # fmt: skip


def test_an_inventory_holds_a_change_in_any_spelling_and_type() -> None:
    change = Change({"context-length": "4096", "enable-x": None}, {"MAX_JOBS": "4"})
    assert holds({"context_length": 4096}, {"MAX_JOBS": 4}, change)
    assert not holds({"context_length": 4096, "enable_x": True}, {"MAX_JOBS": 4}, change)
    assert not holds({"context_length": 4096}, {}, change)


def test_the_lines_for_the_inventory_are_yaml() -> None:
    yaml = pytest.importorskip("yaml")
    change = Change(
        {"a": True, "b": ["1", "2"], "c": None, "d": "off", "e": "triton_attn"}, {"F": "4", "G": 'x "y": #'}
    )
    read = yaml.safe_load("\n".join(as_yaml(change)))
    assert read == {"sglang_service_arguments": change.arguments, "sglang_service_environment": change.environment}
    assert as_yaml(Change({"e": "triton_attn"}, {})) == ["sglang_service_arguments: {e: triton_attn}"]
