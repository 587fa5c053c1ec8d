# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A long log is judged as a short one, and in a bounded space."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any, Callable

import pytest
import yaml
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.custom import user_signatures
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.engine import diagnose
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.log import Entry, Log, read_stream
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.sieve import NEIGHBOURS, sieve
from hypothesis import given, settings
from hypothesis import strategies as st

CORPUS = Path(__file__).resolve().parents[5] / "tests" / "corpus"
LOGS = {path.name: path.read_bytes() for path in sorted((CORPUS / "logs").iterdir())}
LOGS.update(
    {
        case["id"]: case["log"].encode()
        for path in sorted(CORPUS.glob("*.yml"))
        if path.name != "measured.yml"
        for case in yaml.safe_load(path.read_text())
    }
)
DECODE = (
    "[2026-11-30 10:{:02d}:{:02d} TP{}] Decode batch, #running-req: 2, #token: {}, token usage: 0.03, #queue-req: 0\n"
)
CRASH = """\
[2026-11-30 12:00:00 TP3] Scheduler hit an exception: Traceback (most recent call last):
  File "/x/allocator.py", line 1, in free
    assert pages
AssertionError: page 12 was freed twice

[2026-11-30 12:00:01] SIGQUIT received. signum=None, frame=None. It usually means one child failed.
"""
START = "[2026-11-30 09:00:00] The server is fired up and ready to roll!\n"


def life(lines: int) -> str:
    """A healthy life of four ranks."""
    return "".join(DECODE.format(n // 3600 % 60, n // 60 % 60, n % 4, n) for n in range(lines))


def whole(data: bytes) -> list[Entry]:
    """Every entry."""
    return list(read_stream(io.BytesIO(data), everything=True))


def kept(data: bytes, part: int, **more: Any) -> list[Entry]:
    """What a log of a small size keeps of what the sieve passes on."""
    log = Log(part=part, **more)
    log.extend(read_stream(io.BytesIO(data)))
    return log.entries


@pytest.mark.parametrize("name", LOGS)
def test_little_space_does_not_change_a_verdict(name: str) -> None:
    """Of every log of the corpus: its parts together hold a fraction of it, and the answer is the same."""
    wanted, found = diagnose(whole(LOGS[name])), diagnose(kept(LOGS[name], 30_000))
    for key in ("evidence", "secondary"):  # of these it is enough that they are there
        assert bool(found.pop(key)) == bool(wanted.pop(key))
    assert found == wanted


@pytest.mark.parametrize("name", ["segvrun.log", "tp2.log", "warmfail.log", "journal-crash-vllm-missing.log"])
def test_a_measured_crash_after_a_long_life_is_the_same_crash(name: str) -> None:
    """Two hundred thousand lines before the end of a measured run change neither its cause nor its evidence."""
    text = LOGS[name].decode()
    middle = text.index("\n", len(text) // 4) + 1
    long = text[:middle].encode() + life(50_000).encode() + text[middle:].encode()
    wanted, found = diagnose(whole(LOGS[name])), diagnose(kept(long, 100_000))
    for key in ("failed", "signature", "exception", "cause_line", "frames", "exit", "complete"):
        assert found[key] == wanted[key], key


def test_a_long_life_is_kept_in_a_bounded_space() -> None:
    """Twice the lines, the same size; the crash stays whole, with what stood before it."""
    sizes = []
    for lines in (20_000, 40_000):
        entries = kept((START + life(lines) + CRASH).encode(), 50_000)
        diagnosis = diagnose(entries)
        sizes.append(len(entries))
        assert diagnosis["exception"] == {"type": "AssertionError", "message": "page 12 was freed twice"}
        assert (diagnosis["phase"], diagnosis["ranks"], diagnosis["signature"]) == ("serving", ["TP3"], "unknown")
        assert any("Decode batch" in line for line in diagnosis["evidence"])
    assert sizes[0] == sizes[1] < 1000


def test_a_storm_of_errors_is_bounded_and_its_first_stays() -> None:
    """Consequences by the ten thousand after the cause."""
    storm = "".join(f"[2026-11-30 12:01:00 TP1] NCCL WARN Connection closed by peer {n}\n" for n in range(60_000))
    entries = kept((START + life(3000) + CRASH + storm).encode(), 1_000_000)
    assert diagnose(entries)["exception"]["type"] == "AssertionError"
    assert len(entries) < 20_000


def test_a_survived_traceback_stays_survived() -> None:
    """The sign of life after it is remembered, although the line itself is long gone."""
    survived = CRASH.replace("Scheduler hit an exception: ", "Something odd: ").split("[2026-11-30 12:00:01]")[0]
    sign = "[2026-11-30 12:10:00 TP3] Cache flushed successfully!\n"
    others = "".join(f"[2026-11-30 13:00:00 TP1] something else {n}\n" for n in range(5000))
    # The sign stands too far from the traceback to be kept as its neighbour.
    assert not diagnose(kept((START + survived + others + sign + others).encode(), 10_000))["failed"]
    assert diagnose(kept((START + survived + others + others).encode(), 10_000))["failed"]


def test_a_phase_that_begins_in_a_storm_is_kept() -> None:
    """Its one line stands among thousands that matter, too, of which only the first and the last are kept."""
    storm = "".join(f"[2026-11-30 11:00:00 TP1] warning {n}: retry failed\n" for n in range(3000))
    loading = "[2026-11-30 11:01:00 TP1] Load weight begin. avail mem=177.40 GB\n"
    assert diagnose(kept((storm + loading + storm + CRASH).encode(), 20_000))["phase"] == "weight_load"


def test_a_users_line_is_found_in_the_middle() -> None:
    """A user's pattern may match what no rule of ours cares about."""
    mine = user_signatures([{"id": "mine", "line": "the blue lamp is on"}])
    lamp = "[2026-11-30 11:00:00] the blue lamp is on\n"
    text = START + life(3000).replace("Decode batch", "A step") + lamp + life(3000).replace("Decode", "A") + CRASH
    log = Log(mine, part=20_000)
    log.extend(read_stream(io.BytesIO(text.encode()), everything=True))
    assert diagnose(log.entries, signatures=mine)["signature"] == "mine"


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.sampled_from(sorted(LOGS)), st.lists(st.integers(1, 60), min_size=1, max_size=8))
def test_piece_by_piece_is_as_all_at_once(name: str, pieces: list[int]) -> None:
    """The log of a wait comes in pieces of any size."""
    entries = whole(LOGS[name])
    at_once, piecemeal = Log(part=10_000), Log(part=10_000)
    at_once.extend(entries)
    begin = 0
    while begin < len(entries):
        size = pieces[begin % len(pieces)]
        piecemeal.extend(entries[begin : begin + size])
        begin += size
    assert piecemeal.entries == at_once.entries


def plain(line: str) -> bytes:
    """As the program prints it."""
    return line.encode()


def journaled(line: str) -> bytes:
    """As `journalctl -o json` gives it."""
    record = {"__CURSOR": "s=1;i=2", "_PID": "7", "MESSAGE": line.rstrip("\n"), "_TRANSPORT": "stdout"}
    return json.dumps(record).encode() + b"\n"


@pytest.mark.parametrize("form", [plain, journaled])
def test_the_sieve_keeps_neighbours_writers_and_kinds(form: Callable[[str], bytes]) -> None:
    """In their order: the first of each kind and writer, the last of each writer, and what stands around a failure."""
    lines = [form(line) for line in (life(2000) + CRASH + life(2000)).splitlines(keepends=True)]
    passed = list(sieve(lines))
    assert len(passed) < 4 * NEIGHBOURS
    assert [line for line in lines if b"Decode" not in line] == [line for line in passed if b"Decode" not in line]
    crash = form(CRASH.splitlines(keepends=True)[0])
    at, place = lines.index(crash), passed.index(crash)
    assert passed[place - NEIGHBOURS : place + NEIGHBOURS] == lines[at - NEIGHBOURS : at + NEIGHBOURS]
    assert passed[-4:] == lines[-4:]


@pytest.mark.parametrize(
    "line",
    [
        "Decode batch, #running-req: 0[2026-11-30 12:00:00 TP1] Scheduler hit an exception: Traceback",
        'Decode batch, #running-req: 0 "RuntimeError: boom"',
        "Decode batch failed: CUDA error",
    ],
)
def test_what_only_begins_as_routine_is_passed_on(line: str) -> None:
    """Another writer may have been glued to it."""
    odd = f"[2026-11-30 12:00:00 TP0] {line}\n".encode()
    lines = [line.encode() for line in life(1000).splitlines(keepends=True)]
    assert odd in list(sieve([*lines, odd, *lines]))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(st.one_of(st.text(max_size=60), st.sampled_from(CRASH.splitlines())), max_size=80), st.integers(1, 3000)
)
def test_any_lines_are_kept_in_order_and_judged(lines: list[str], part: int) -> None:
    """Never an exception, never a line twice, and a result of a bounded size."""
    entries = whole("\n".join(lines).encode())
    log = Log(part=part)
    log.extend(entries)
    places = iter(entries)
    assert all(any(one is other for other in places) for one in log.entries)
    assert len(repr(diagnose(log.entries))) < 100_000
