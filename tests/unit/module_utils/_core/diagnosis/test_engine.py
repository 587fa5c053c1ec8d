# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tracebacks, stops, deaths and secrets beyond the corpus."""

from __future__ import annotations

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.custom import user_signatures
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.engine import diagnose
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.evidence import redact, shorten
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.exits import UnitExit
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.report import headline
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.tracebacks import find_tracebacks
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.saved import read_log
from hypothesis import given, settings
from hypothesis import strategies as st

CRASH = """\
[2026-11-30 10:00:00 TP0] Load weight begin. avail mem=1.00 GB
[2026-11-30 10:00:01 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/x/a.py", line 1, in f
    g()
RuntimeError: frobnication failed in bay 7

[2026-11-30 10:00:01] Received sigquit from a child process. It usually means the child failed.
"""


def test_the_users_signature_wins() -> None:
    """Over built-in ones and over the unknown."""
    mine = user_signatures(
        [
            {
                "id": "bay",
                "title": "Bay {bay} is broken",
                "cause": "See the runbook for bay {bay}.",
                "exception": r"failed in bay (?P<bay>\d)",
                "remedies": [{"kind": "host", "value": "replace bay {bay}"}],
            }
        ]
    )
    diagnosis = diagnose(read_log(CRASH.encode()), signatures=mine)
    assert (diagnosis["signature"], diagnosis["title"]) == ("bay", "Bay 7 is broken")
    assert diagnosis["remedies"] == [{"kind": "host", "value": "replace bay 7", "unattended": False, "note": ""}]
    assert diagnose(read_log(CRASH.encode()))["signature"] == "unknown"


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ({"id": "x"}, "signatures[1] needs an id and at least one of exception and line"),
        ({"id": "x", "line": "("}, "signatures[1].line is '('"),
        ({"id": "x", "line": "a", "remedies": [{"kind": "magic", "value": "v"}]}, "kind 'magic'"),
    ],
)
def test_bad_signatures_are_refused_with_a_sentence(item: dict, text: str) -> None:
    """Thing, value, way out."""
    with pytest.raises(ValueError) as caught:
        user_signatures([item])
    assert text in str(caught.value)


def test_an_exception_group_and_a_chain_are_one_traceback() -> None:
    """The root comes first."""
    log = """\
Traceback (most recent call last):
  File "/x/a.py", line 1, in f
    d["k"]
KeyError: 'k'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/x/b.py", line 2, in g
    raise ValueError("no k")
ValueError: no k
"""
    (found,) = find_tracebacks(read_log(log.encode()))
    assert [link.type for link in found.raised] == ["KeyError", "ValueError"]
    diagnosis = diagnose(read_log(log.encode() + b"exit 1\n"))
    assert diagnosis["exception"] == {"type": "ValueError", "message": "no k"}
    assert diagnosis["frames"] == ["/x/b.py:2 in g"]


def test_systemds_knowledge_decides_where_the_log_is_silent() -> None:
    """A log without a word, and how the unit ended."""
    silent = read_log(b"[2026-11-30 10:00:00 TP0] Load weight begin. avail mem=1.00 GB\n")
    assert not diagnose(silent)["failed"]
    killed = diagnose(silent, UnitExit("killed", 9, "oom-kill"))
    assert killed["failed"] and killed["exit"]["meaning"] == "the kernel's out-of-memory killer ended it"
    own = diagnose(silent, UnitExit("killed", 9, "signal"))
    assert "no out-of-memory kill" in own["exit"]["meaning"]
    assert "Nothing in the log tells why" in own["cause"]
    assert not diagnose(silent, UnitExit("exited", 0, "success"))["failed"]
    assert diagnose(silent, UnitExit("exited", 0, "success"), ending_is_failure=True)["failed"]


def test_dropped_lines_weaken_the_verdict() -> None:
    """The journal says that it suppressed messages."""
    log = "Nov 30 10:00:00 host systemd-journald[3]: Suppressed 1234 messages from sglang.service\n"
    crash = "".join(f"Nov 30 10:00:01 host python[9]: {line}\n" for line in CRASH.splitlines())
    weak, whole = diagnose(read_log((log + crash).encode())), diagnose(read_log(crash.encode()))
    assert (weak["complete"], whole["complete"]) == (False, True)
    assert "The log is incomplete" in headline("sglang.service", weak)
    assert "The log is incomplete" not in headline("sglang.service", whole)


def test_secrets_never_reach_the_evidence() -> None:
    """SGLang prints its keys in server_args."""
    for text in (
        "'api_key': 'sk-test', 'admin_api_key': 'adm'",
        "--api-key sk-test",
        "Authorization: Bearer sk-test",
        "token hf_abcdefghijkl sk-test".replace(" sk-test", ""),
        "HF_TOKEN=sk-test",
    ):
        shown = redact(text)
        assert "sk-test" not in shown and "'adm'" not in shown and "hf_abc" not in shown and "***" in shown
    assert redact("'api_key': None, 'x': 1") == "'api_key': None, 'x': 1"
    log = CRASH.replace("frobnication", "'api_key': 'sk-test' frobnication")
    assert "sk-test" not in str(diagnose(read_log(log.encode())))


def test_long_lines_keep_both_ends() -> None:
    """The reason often stands at the end."""
    assert shorten("a" * 1000 + "why").endswith("why") and len(shorten("a" * 1000)) < 450


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from([*CRASH.splitlines(), "exit 137", "", "  x", "Traceback (most recent call last):"])))
def test_any_order_of_lines_is_judged(lines: list[str]) -> None:
    """Never an exception, and consequences are never the cause."""
    diagnosis = diagnose(read_log("\n".join(lines).encode()))
    if diagnosis["exception"]:
        assert "sigquit" not in diagnosis["exception"]["message"].lower()


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.binary(max_size=3000))
def test_any_bytes_are_judged(data: bytes) -> None:
    """Never an exception."""
    diagnose(read_log(data))
