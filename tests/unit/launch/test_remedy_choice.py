# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which remedy may be applied, and what is said about the others."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.signatures import BUILTIN
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.choice import choose, mistakes

VISION = next(signature for signature in BUILTIN if signature.id == "vision-attention-unavailable")
DIAGNOSIS = {
    "signature": VISION.id,
    "title": VISION.title,
    "remedies": [remedy.as_dict() for remedy in VISION.remedies],
}


def chosen(
    *allowed: str,
    arguments: dict[str, Any] | None = None,
    reserved: tuple[str, ...] = (),
    diagnosis: dict[str, Any] = DIAGNOSIS,
) -> tuple[str, list[str]]:
    remedy, left = choose(diagnosis, allowed, arguments or {}, {}, reserved)
    return (remedy or {"value": ""})["value"], left


@pytest.mark.parametrize(
    ("allowed", "value"),
    [
        ((), ""),
        (("packages", "environment", "manual", "host", "model"), ""),
        (("another-signature",), ""),
        (("server_args",), "--mm-attention-backend triton_attn"),
        (("packages", "server_args"), "--mm-attention-backend triton_attn"),
        (("vision-attention-unavailable",), "--mm-attention-backend triton_attn"),
        (("vision-attention-unavailable=--skip-server-warmup",), "--skip-server-warmup"),
        (("vision-attention-unavailable=--skip-server-warmup", "server_args"), "--mm-attention-backend triton_attn"),
    ],
)
def test_the_first_allowed_one_is_chosen(allowed: tuple[str, ...], value: str) -> None:
    assert chosen(*allowed)[0] == value


def test_a_kind_never_covers_a_remedy_with_a_cost() -> None:
    value, left = chosen("server_args", arguments={"mm-attention-backend": "triton_attn"})
    assert value == ""
    assert "in effect already" in left[1]
    assert "would have to list vision-attention-unavailable=--skip-server-warmup" in left[2]


def test_a_signature_covers_its_remedy_with_a_cost_when_the_better_one_is_in_effect() -> None:
    given = {"mm_attention_backend": "triton_attn"}
    assert chosen("vision-attention-unavailable", arguments=given)[0] == "--skip-server-warmup"


def test_each_remedy_before_the_chosen_one_has_its_reason() -> None:
    _value, left = chosen("packages", "server_args")
    assert len(left) == 1
    assert "allowed, but a change of kind packages is made by people" in left[0]


def test_what_has_a_role_variable_is_left_to_it() -> None:
    remedy = {"kind": "server_args", "value": "--host 0.0.0.0", "unattended": True}
    value, left = chosen("server_args", reserved=("host",), diagnosis={"signature": "x", "remedies": [remedy]})
    assert value == ""
    assert "host has a role variable of its own" in left[0]


def test_advice_is_not_applied_even_where_its_signature_is_allowed() -> None:
    remedy = {"kind": "server_args", "value": "a lower --mem-fraction-static", "unattended": False}
    value, left = chosen("x", diagnosis={"signature": "x", "remedies": [remedy]})
    assert value == ""
    assert "advice, not an exact change" in left[0]


def test_an_unknown_failure_has_nothing_to_apply() -> None:
    value, left = chosen("server_args", diagnosis={"signature": "unknown", "remedies": []})
    assert value == ""
    assert "unknown has no remedy" in left[0]


def test_an_entry_that_can_allow_nothing_is_a_mistake() -> None:
    kinds, ids = ("server_args", "packages"), ("port-in-use",)
    assert mistakes(["server_args", "packages", "port-in-use", "port-in-use=--x"], kinds, ids) == []
    assert "did you mean server_args?" in mistakes(["server-args"], kinds, ids)[0]
    assert "did you mean port-in-use?" in mistakes(["port-in-used=--x"], kinds, ids)[0]
    assert len(mistakes(["server_args=--x"], kinds, ids)) == 1
