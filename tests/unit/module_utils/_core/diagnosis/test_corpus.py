# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every log of tests/corpus gets its right answer."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Callable

import pytest
import yaml
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.engine import diagnose
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    REMEDY_KINDS,
    SECONDARY,
    Signature,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.report import headline, readable
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.signatures import BUILTIN
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.saved import read_log

CORPUS = Path(__file__).resolve().parents[5] / "tests" / "corpus"
MEASURED: list[dict[str, Any]] = yaml.safe_load((CORPUS / "measured.yml").read_text())
# Every other file holds its logs itself.
WRITTEN: list[dict[str, Any]] = [
    answer
    for path in sorted(CORPUS.glob("*.yml"))
    if path.name != "measured.yml"
    for answer in yaml.safe_load(path.read_text())
]


def check(answer: dict[str, Any], log: bytes) -> None:
    """Compare what the answer names."""
    diagnosis = diagnose(read_log(log))
    for key in ("failed", "signature", "phase", "ranks", "pids", "complete"):
        if key in answer:
            assert diagnosis[key] == answer[key], key
    wanted = answer.get("exception", {})
    if "type" in wanted:
        assert diagnosis["exception"]["type"] == wanted["type"]
    assert wanted.get("message", "") in diagnosis["exception"].get("message", "")
    assert answer.get("cause_line", "") in diagnosis["cause_line"]
    assert answer.get("frame", "") in "\n".join(diagnosis["frames"])
    if "remedy" in answer:
        assert any(answer["remedy"] in remedy["value"] for remedy in diagnosis["remedies"])
    assert "early_warning" not in answer or any(
        answer["early_warning"] in one["line"] for one in diagnosis["early_warnings"]
    )
    for key, value in answer.get("exit", {}).items():
        assert diagnosis["exit"][key] == value
    if diagnosis["failed"]:
        text = headline("sglang.service", diagnosis)
        assert "sigquit" not in text.lower()
        texts = "\n".join(
            [diagnosis["title"], diagnosis["cause"], *(remedy["value"] for remedy in diagnosis["remedies"])]
        )
        assert not re.search(r"\{|\(\)|  ", texts), "a placeholder that nothing filled"
        assert readable("sglang.service", diagnosis).startswith("sglang.service died while ")
        assert "received sigquit" not in readable("sglang.service", diagnosis).lower()
    else:
        assert diagnosis["remedies"] == [] and diagnosis["evidence"] == []
    assert len(diagnosis["evidence"]) <= 40


@pytest.mark.parametrize("answer", MEASURED, ids=[answer["log"] for answer in MEASURED])
def test_measured(answer: dict[str, Any]) -> None:
    """Real output of SGLang 0.5.23."""
    check(answer, (CORPUS / "logs" / answer["log"]).read_bytes())


@pytest.mark.parametrize("answer", WRITTEN, ids=[answer["id"] for answer in WRITTEN])
def test_written(answer: dict[str, Any]) -> None:
    """Known failures, failures that nobody had told the engine of, and look-alikes."""
    check(answer, answer["log"].encode())


# What stands around the same lines when a container or a journal without its fields brings them.
WRAPPINGS: dict[str, Callable[[str], str]] = {
    "docker compose": "sglang-1  | {}".format,
    "docker logs --timestamps": "2026-11-30T19:25:30.123456789Z {}".format,
    "kubectl logs --prefix --timestamps": "[pod/sglang-0/server] 2026-11-30T19:25:30.123456789Z {}".format,
    "the container runtime's file": "2026-11-30T19:25:30.123456789+00:00 stderr F {}".format,
    "carriage returns": "{}\r".format,
    "colour": "\x1b[31m{}\x1b[0m".format,
    "journal without pids": lambda line: json.dumps({"__REALTIME_TIMESTAMP": "1796066730000001", "MESSAGE": line}),
}
_WRAPPED = re.compile(
    r"\{\"|__CURSOR|[A-Z][a-z]{2} (?:\d\d |\d{4}-)|\d{4}-\d\d-\d\dT|\d{10}\.|\[pod|[\w-]+ +\| |.*systemd\[1\]|.*kernel:",
    re.DOTALL,
)


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_the_answer_is_the_same_in_every_wrapping(wrapping: str) -> None:
    """Containers and collectors put their own words around a line; the cause stays what it is."""
    for answer in WRITTEN:
        if _WRAPPED.match(answer["log"]) or (wrapping == "journal without pids" and "two writers" in answer["id"]):
            continue  # it has a wrapping of its own; or only its pid could tell the writers apart
        wrapped = "\n".join(map(WRAPPINGS[wrapping], answer["log"].rstrip("\n").split("\n")))
        try:
            check(answer, wrapped.encode())
        except AssertionError as error:
            raise AssertionError(answer["id"]) from error


def test_every_log_has_an_answer() -> None:
    """No fixture without a judgement."""
    assert {path.name for path in (CORPUS / "logs").iterdir()} == {answer["log"] for answer in MEASURED}


def test_what_a_machine_may_do_is_exact() -> None:
    """A remedy that may be applied unattended is an option or an assignment, not prose."""
    shapes = {"server_args": r"--[a-z-]+( \S+)?", "environment": r"[A-Z_]+=\S+"}
    for signature in BUILTIN:
        for remedy in signature.remedies:
            if remedy.unattended and remedy.kind in shapes:
                assert re.fullmatch(shapes[remedy.kind], remedy.value), (signature.id, remedy.value)


def test_signature_ids_are_unique() -> None:
    """An id is what users allow remedies by."""
    ids = [signature.id for signature in BUILTIN]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("signature", BUILTIN, ids=[signature.id for signature in BUILTIN])
def test_a_signature_says_where_it_comes_from_and_what_to_do(signature: Signature) -> None:
    """Each has a source, a cause and, unless it only points at an earlier failure, something to change."""
    assert signature.reference and signature.cause and signature.title
    assert signature.exception or signature.line
    assert signature.remedies or signature.strength == SECONDARY
    assert all(remedy.kind in REMEDY_KINDS and remedy.value for remedy in signature.remedies)


def test_written_ids_are_unique() -> None:
    """An id names one case."""
    ids = [answer["id"] for answer in WRITTEN]
    assert len(ids) == len(set(ids))


def test_the_documentation_lists_every_signature() -> None:
    """docs/diagnosis.md is where an id is looked up."""
    text = (CORPUS.parents[1] / "docs" / "diagnosis.md").read_text()
    lines = [f"| `{signature.id}` | {re.sub('{[a-z]+}', '...', signature.title)} |" for signature in BUILTIN]
    assert [line for line in lines if line not in text] == []
    assert len(re.findall(r"^\| `", text, re.MULTILINE)) == len(lines)


def test_the_vision_tower_is_told_in_full() -> None:
    """Repair the pair; or another backend, which keeps images; the warm-up may be skipped for text alone, by a person."""
    [vision] = [signature for signature in BUILTIN if signature.id == "vision-attention-unavailable"]
    pair, backend, skip = vision.remedies
    assert pair.kind == "packages" and "flash-attn-4 and nvidia-cutlass-dsl" in pair.value and not pair.unattended
    assert (backend.value, backend.unattended) == ("--mm-attention-backend triton_attn", True)
    assert (skip.value, skip.unattended) == ("--skip-server-warmup", False)
    assert "text-only" in skip.note and "first image request would still kill" in skip.note
