# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of a server that started, served for days, and died: as journalctl writes it, and as plain text.

Start and death are a measured run of SGLang 0.5.23 (`tests/corpus/logs/segvrun.log`); between them stand the lines of a busy
server in the same program's formats, with what real logs have besides batches: clients' errors, survived tracebacks, warnings.
"""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Iterator

CORPUS = Path(__file__).resolve().parents[2] / "tests" / "corpus" / "logs" / "segvrun.log"
ANSWER = {"signature": "native-crash", "phase": "serving", "ranks": ["TP0"]}
_RANKS = 8
_MAIN, _FIRST_RANK = 16416, 16629
_BEGIN = 1_796_066_000.0
INVOCATION = "7d1c4f0e9a5b4c3d8e2f1a0b9c8d7e6f"

_CLIENT_ERROR = """\
[{stamp}] Error in request: Traceback (most recent call last):
  File "/opt/sglang/venv/lib/python3.11/site-packages/sglang/srt/entrypoints/openai/serving_base.py", line 96, in handle_request
    adapted_request, processed_request = self._convert_to_internal_request(
  File "/opt/sglang/venv/lib/python3.11/site-packages/sglang/srt/entrypoints/openai/serving_chat.py", line 371, in _apply_jinja_template
    prompt_ids = self.tokenizer_manager.tokenizer.apply_chat_template(
jinja2.exceptions.UndefinedError: 'dict object' has no attribute 'content'
"""


def lines(size: int, share_of_other: float = 0.01) -> Iterator[tuple[float, int, str]]:
    """Time, process and text of each line, the lines of the middle until `size` characters are reached."""
    text = CORPUS.read_text().split("\n")
    death = next(number for number, line in enumerate(text) if "Fatal Python error" in line)
    now = _BEGIN
    for line in text[:death]:
        now += 0.2
        yield now, _MAIN if "INFO: " in line else _FIRST_RANK, line
    dice = random.Random(20261130)
    while size > 0:
        now += dice.random() / 20
        for pid, line in _others(dice, now) if dice.random() < share_of_other else (_routine(dice, now),):
            size -= len(line) + 1
            yield now, pid, line
    for line in text[death:]:
        now += 0.01
        if not line.startswith("exit "):
            yield now, _MAIN if line.startswith("[20") else _FIRST_RANK, line


def _stamp(now: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now))


def _routine(dice: random.Random, now: float) -> tuple[int, str]:
    what, rank = dice.random(), dice.randrange(_RANKS)
    head = f"[{_stamp(now)} TP{rank}]"
    if what < 0.6:
        return _FIRST_RANK + rank, (
            f"{head} Decode batch, #running-req: {dice.randrange(64)}, #token: {dice.randrange(90000)}, "
            f"token usage: 0.{dice.randrange(10, 99)}, accept len: 3.{dice.randrange(10, 99)}, cuda graph: True, "
            f"gen throughput (token/s): {dice.randrange(100, 4000)}.{dice.randrange(10, 99)}, #queue-req: 0"
        )
    if what < 0.85:
        return _FIRST_RANK + rank, (
            f"{head} Prefill batch, #new-seq: 1, #new-token: {dice.randrange(8192)}, #cached-token: {dice.randrange(9000)}, "
            f"token usage: 0.{dice.randrange(10, 99)}, #running-req: {dice.randrange(64)}, #queue-req: 0, #pending-token: 0, "
            f"cuda graph: False, input throughput (token/s): {dice.randrange(9000)}.00"
        )
    return _MAIN, (
        f"[{_stamp(now)}] INFO:     10.0.0.{dice.randrange(250)}:{dice.randrange(1024, 65000)} - "
        f'"POST /v1/chat/completions HTTP/1.1" 200 OK'
    )


def _others(dice: random.Random, now: float) -> list[tuple[int, str]]:
    stamp = _stamp(now)
    what = dice.randrange(20)
    if what == 0:
        return [(_MAIN, line) for line in _CLIENT_ERROR.format(stamp=stamp).rstrip("\n").split("\n")]
    if what == 1:
        return [
            (
                _MAIN,
                f"[{stamp}] Health check failed. Server couldn't get a response from detokenizer for last 20 seconds.",
            )
        ]
    if what < 10:
        status = dice.choice(("400 Bad Request", "404 Not Found", "401 Unauthorized"))
        return [(_MAIN, f'[{stamp}] INFO:     10.0.0.7:50112 - "POST /v1/completions HTTP/1.1" {status}')]
    return [(_FIRST_RANK, f"[{stamp} TP0] Cache flushed successfully!")]


def journal_record(number: int, now: float, pid: int, text: str) -> str:
    """One record with the fields that a unit's output has in `journalctl -o json --all`."""
    micro = int(now * 1e6)
    return json.dumps(
        {
            "__CURSOR": f"s=c4d1f0b6a7e84f0c9b1d2e3f4a5b6c7d;i={number:x};b=0d9c8b7a6f5e4d3c2b1a0f9e8d7c6b5a;"
            f"m={number * 977:x};t={micro:x};x={(number * 2654435761) % (1 << 64):x}",
            "__REALTIME_TIMESTAMP": str(micro),
            "__MONOTONIC_TIMESTAMP": str(micro - 1_796_000_000_000_000),
            "__SEQNUM": str(number),
            "__SEQNUM_ID": "c4d1f0b6a7e84f0c9b1d2e3f4a5b6c7d",
            "_BOOT_ID": "0d9c8b7a6f5e4d3c2b1a0f9e8d7c6b5a",
            "_MACHINE_ID": "5e4d3c2b1a0f9e8d7c6b5a0d9c8b7a6f",
            "_HOSTNAME": "b300-01",
            "_RUNTIME_SCOPE": "system",
            "PRIORITY": "6",
            "SYSLOG_FACILITY": "3",
            "SYSLOG_IDENTIFIER": "python",
            "_UID": "998",
            "_GID": "998",
            "_PID": str(pid),
            "_COMM": "python" if pid == _MAIN else "sglang::schedul",
            "_EXE": "/usr/bin/python3.11",
            "_CMDLINE": "/opt/sglang/venv/bin/python -m sglang.launch_server --config /etc/sglang/kimi.yaml"
            if pid == _MAIN
            else f"sglang::scheduler_TP{pid - _FIRST_RANK}",
            "_CAP_EFFECTIVE": "0",
            "_SELINUX_CONTEXT": "unconfined\n",
            "_SYSTEMD_CGROUP": "/system.slice/sglang.service",
            "_SYSTEMD_UNIT": "sglang.service",
            "_SYSTEMD_SLICE": "system.slice",
            "_SYSTEMD_INVOCATION_ID": INVOCATION,
            "_TRANSPORT": "stdout",
            "_STREAM_ID": f"{pid:032x}",
            "MESSAGE": text,
        },
        separators=(",", ":"),
    )


def write_journal(path: Path, size: int, share_of_other: float = 0.01) -> int:
    """A journal of about `size` bytes; returns the number of its lines."""
    # A record is about 1,300 bytes, of which a sixth is the message.
    return _write(path, (journal_record(*line) for line in _numbered(lines(int(size * 0.152), share_of_other))))


def write_plain(path: Path, size: int) -> int:
    """The same life as the program itself printed it."""
    return _write(path, (text for _now, _pid, text in lines(size)))


def write_short_iso(path: Path, size: int) -> int:
    """The same life as `journalctl -o short-iso` prints it, about `size` bytes; returns the number of its lines."""
    # The messages are about three quarters of the text.
    return _write(path, (short_iso(*line) for line in lines(int(size * 0.75))))


def short_iso(now: float, pid: int, text: str) -> str:
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S+0000", time.gmtime(now))
    return f"{stamp} b300-01 python[{pid}]: {text}"


def _numbered(life: Iterator[tuple[float, int, str]]) -> Iterator[tuple[int, float, int, str]]:
    return ((number, *line) for number, line in enumerate(life, 1))


def _write(path: Path, texts: Iterator[str]) -> int:
    count = 0
    with path.open("w") as handle:
        for text in texts:
            handle.write(text + "\n")
            count += 1
    return count
