# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Journal records as they really come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import JOURNALD, KERNEL, SYSTEMD, UNIT
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.records import JournalReader, field
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.saved import read_log
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.text import LONGEST
from hypothesis import given, settings
from hypothesis import strategies as st


def record(message: Any, **more: Any) -> str:
    """One line of `journalctl -o json`."""
    base = {"MESSAGE": message, "_PID": "92", "__REALTIME_TIMESTAMP": "1796067663873242", "_STREAM_ID": "s"}
    return json.dumps(dict(base, **more))


def texts(*lines: str) -> list[str]:
    """The texts of the entries."""
    return [entry.text for entry in JournalReader().feed(lines)]


def test_a_message_may_be_text_bytes_null_missing_or_repeated() -> None:
    """All shapes of the MESSAGE field."""
    coloured = list(b"\x1b[1;33mold flag\x1b[0m \xff")
    assert texts(record("plain")) == ["plain"]
    assert texts(record(coloured)) == ["old flag \ufffd"]
    assert texts(record(["a", "b"])) == ["a", "b"]
    assert texts('{"_PID": "1"}') == [""]
    (entry,) = JournalReader().feed([record(None)])
    assert entry.cut and entry.text == ""
    assert field([[65, 66], "C"]) == "AB\nC"


def test_lines_split_at_48_kib_are_joined_even_across_calls() -> None:
    """`_LINE_BREAK=line-max` continues in the next record of the stream; another writer may come between."""
    reader = JournalReader()
    assert reader.feed([record("a" * 10, _LINE_BREAK="line-max")]) == []
    other = record("other", _STREAM_ID="t", _PID="7")
    assert [e.text for e in reader.feed([other, record("b", _LINE_BREAK="eof")])] == ["other", "a" * 10 + "b"]


def test_a_progress_bar_shows_its_last_state_and_swallows_nothing() -> None:
    """Carriage returns, and a second writer glued to the bar."""
    bar = "\rshards:   0% Completed | 0/4 [00:00<?]\rshards:  50% Completed | 2/4 [00:00<?]"
    assert texts(record(bar)) == ["shards:  50% Completed | 2/4 [00:00<?]"]
    entries = JournalReader().feed([record(bar + "[2026-11-30 19:30:21 TP1] Load weight begin.")])
    assert [entry.text for entry in entries] == ["shards:  50% Completed | 2/4 [00:00<?]", "Load weight begin."]
    assert entries[1].stamped and entries[1].rank == "TP1"


def test_a_process_keeps_its_rank() -> None:
    """A traceback's lines carry no prefix, but their process does."""
    reader = JournalReader()
    entries = reader.feed([record("[2026-11-30 19:30:21 TP3 EP3] begin"), record("  File x"), record("y", _PID="93")])
    assert [entry.rank for entry in entries] == ["TP3 EP3", "TP3 EP3", ""]
    assert entries[0].time == pytest.approx(1796067663.873242)


def test_who_speaks() -> None:
    """Process 1, the kernel and the journal itself are told from the unit."""
    reader = JournalReader()
    lines = [
        record("x: Failed", SYSLOG_IDENTIFIER="systemd", _PID="1"),
        record("NVRM: Xid", _TRANSPORT="kernel", SYSLOG_IDENTIFIER="kernel"),
        record("Suppressed 12 messages", SYSLOG_IDENTIFIER="systemd-journald"),
        record("hello"),
    ]
    assert [entry.source for entry in reader.feed(lines)] == [SYSTEMD, KERNEL, JOURNALD, UNIT]


@pytest.mark.parametrize(
    "line",
    [
        "May 30 14:47:43 host python[22284]: [2026-05-30 14:47:43 TP0] text",
        "2026-05-30T14:47:43.557713+0000 host python[22284]: [2026-05-30 14:47:43 TP0] text",
        "2026-05-30T14:47:43+02:00 host python[22284]: [2026-05-30 14:47:43 TP0] text",
        "1796067663.873242 host python[22284]: [2026-05-30 14:47:43 TP0] text",
        "Sat 2026-05-30 14:47:43 UTC host python[22284]: [2026-05-30 14:47:43 TP0] text",
        "[ 1234.567890] host python[22284]: [2026-05-30 14:47:43 TP0] text",
    ],
)
def test_short_formats_of_journalctl(line: str) -> None:
    """Each gives process, rank, time and text."""
    (entry,) = read_log(line.encode())
    assert (entry.pid, entry.rank, entry.text, entry.stamped) == (22284, "TP0", "text", True)
    assert entry.time is not None


@pytest.mark.parametrize(
    "line",
    [
        "sglang-1  | [2026-05-30 14:47:43 TP0] text",
        "[pod/kimi-0/server] [2026-05-30 14:47:43 TP0] text",
        "2026-05-30T14:47:43.123456789Z stderr F [2026-05-30 14:47:43 TP0] text",
        "[2026-05-30 14:47:43.123 TP0] text",
        "(Worker_TP0 pid=3) ERROR 10-11 22:28:17 [core.py:842] text",
        "[rank0]: text",
    ],
)
def test_prefixes_of_containers_and_programs(line: str) -> None:
    """Each gives rank and text."""
    (entry,) = read_log(line.encode())
    assert (entry.rank, entry.text) == ("TP0", "text")


def test_export_format() -> None:
    """Text fields and one with a binary length."""
    data = b"__CURSOR=a\n_PID=5\nMESSAGE=one\n\n__CURSOR=b\n_PID=5\nMESSAGE\n" + (9).to_bytes(8, "little")
    data += b"two\nthree\n\n"
    assert [(entry.pid, entry.text) for entry in read_log(data)] == [(5, "one"), (5, "two"), (5, "three")]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=2000))
def test_any_bytes_are_read(data: bytes) -> None:
    """Never an exception."""
    read_log(data)
    JournalReader().feed(data.decode("latin-1").split("\n"))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.dictionaries(st.sampled_from(["MESSAGE", "_PID", "_STREAM_ID", "_LINE_BREAK", "_TRANSPORT"]), json_values))
def test_any_record_is_read(fields: dict[str, Any]) -> None:
    """Whatever a field holds."""
    JournalReader().feed([json.dumps(fields)])


def test_numbers_beyond_measure_are_no_numbers() -> None:
    """A damaged record or line; nothing is converted that Python refuses."""
    digits = "9" * 5000
    assert texts(record("a", _PID=digits, __REALTIME_TIMESTAMP=digits)) == ["a"]
    for line in (
        f"[ {digits}.000000] h p[1]: x",
        f"[1.000000] h p[{digits}]: x",
        f"(W pid={digits}) x",
        "5" * 15000 + "\r|",
    ):
        read_log(line.encode())


def test_a_line_of_any_length_is_read_in_pieces() -> None:
    """The rest of a line that no memory should hold is passed over."""
    data = b"x" * ((1 << 23) + 10) + b"\nnext\n"
    assert [len(entry.text) for entry in read_log(data)] == [LONGEST + len(" ... "), 4]


def test_a_long_line_keeps_its_beginning_and_its_end() -> None:
    """What is wrong often stands at the end of a dump."""
    (entry,) = read_log(b"RuntimeError: " + b"x" * 100_000 + b" in stage 3\n")
    assert entry.text.startswith("RuntimeError: xx")
    assert entry.text.endswith("xx in stage 3")
