# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The note on the host: what it says, and when its remedy has had its time."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.change import Change
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.note import digest, over, parse, render

CHANGE = Change({"mm-attention-backend": "triton_attn"}, {"MAX_JOBS": "4"})
INVENTORY: dict[str, Any] = {"mm_attention_backend": "fa4", "tp-size": 8}
ENVIRONMENT = {"MAX_JOBS": "a-secret-by-mistake"}
REMEDY: dict[str, Any] = {
    "signature": "vision-attention-unavailable",
    "title": "The vision tower's\nkernel",
    "kind": "server_args",
    "value": "--mm-attention-backend triton_attn",
    "unattended": True,
    "arguments": CHANGE.arguments,
    "environment": CHANGE.environment,
    "applied_at": "2026-12-01 01:20 UTC",
    "before": digest(INVENTORY, ENVIRONMENT, CHANGE),
}
ALLOWED = ["server_args"]


def test_the_note_is_read_back_and_is_yaml() -> None:
    text = render("sglang.service", REMEDY)
    assert parse(text) == REMEDY
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load(text) == REMEDY


def test_the_note_tells_people_what_to_do() -> None:
    lines = render("sglang.service", REMEDY).splitlines()
    assert "#   sglang_service_arguments: {mm-attention-backend: triton_attn}" in lines
    assert any("on 2026-12-01 01:20 UTC, because sglang.service had died" in line for line in lines)
    assert any("vision-attention-unavailable: The vision tower's kernel" in line for line in lines)


def test_the_note_holds_nothing_of_the_inventory() -> None:
    text = render("sglang.service", REMEDY)
    assert "fa4" not in text
    assert "a-secret-by-mistake" not in text


@pytest.mark.parametrize("text", ["", "# only a comment\n", "{}\n", "[1]\n", '{"signature": 1'])
def test_a_damaged_note_is_said_to_be_one(text: str) -> None:
    with pytest.raises(ValueError, match="holds no remedy"):
        parse(text)


def test_a_remedy_stands_while_the_inventory_stays_as_it_was() -> None:
    assert over(REMEDY, ALLOWED, INVENTORY, ENVIRONMENT) == ""
    assert over(REMEDY, ALLOWED, {**INVENTORY, "tp-size": 4}, ENVIRONMENT) == ""


@pytest.mark.parametrize(
    ("allowed", "arguments", "environment", "why"),
    [
        (ALLOWED, {"mm-attention-backend": "triton_attn"}, {"MAX_JOBS": 4}, "the inventory holds it now"),
        ([], {"mm-attention-backend": "triton_attn"}, {"MAX_JOBS": 4}, "the inventory holds it now"),
        ([], INVENTORY, ENVIRONMENT, "allows it no longer"),
        (ALLOWED, {"mm-attention-backend": "sdpa"}, ENVIRONMENT, "something else about mm-attention-backend, MAX_JOBS"),
        (ALLOWED, {}, ENVIRONMENT, "something else about"),
    ],
)
def test_a_remedy_has_had_its_time(
    allowed: list[str], arguments: dict[str, Any], environment: dict[str, Any], why: str
) -> None:
    assert why in over(REMEDY, allowed, arguments, environment)
