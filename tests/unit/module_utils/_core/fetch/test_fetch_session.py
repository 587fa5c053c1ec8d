# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What aria2 is told, what it answers, and the numbers that people read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import (
    Settings,
    file_options,
    gid_of,
    session_conf,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.readable import (
    progress_line,
    readable_bytes,
    readable_seconds,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.rpc import Aria2, RpcError

GIB = 1 << 30


class Line:
    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.sent: list[Any] = []

    def __call__(self, body: bytes) -> bytes:
        self.sent.append(json.loads(body))
        return self.answer if isinstance(self.answer, bytes) else json.dumps(self.answer).encode()


def entry(gid: str, state: str, **more: str) -> dict[str, str]:
    return dict(
        {"gid": gid, "status": state, "totalLength": "10", "completedLength": "4", "downloadSpeed": "2"}, **more
    )


def test_all_downloads_come_in_one_request_with_the_secret_in_every_call() -> None:
    line = Line(
        {"result": [[[entry("a", "active")]], [[]], [[entry("b", "error", errorCode="22", errorMessage="no")]]]}
    )
    statuses = Aria2(line, "s3cret").downloads()
    assert (statuses["a"].completed_bytes, statuses["a"].error_code) == (4, 0)
    assert (statuses["b"].state, statuses["b"].error_code, statuses["b"].error_message) == ("error", 22, "no")
    assert len(line.sent) == 1
    assert [call["params"][0] for call in line.sent[0]["params"][0]] == 3 * ["token:s3cret"]


def test_a_fault_inside_a_batch_is_an_error() -> None:
    with pytest.raises(RpcError, match="Unauthorized"):
        Aria2(Line({"result": [{"code": 1, "message": "Unauthorized"}, [[]], [[]]]}), "s").downloads()


@pytest.mark.parametrize("answer", [b"<html>", {"error": {"code": 1, "message": "GID not found"}}, [], {}])
def test_a_refusal_is_an_error_without_the_secret(answer: Any) -> None:
    with pytest.raises(RpcError) as error:
        Aria2(Line(answer), "s3cret").forget("a")
    assert "s3cret" not in str(error.value)


def test_the_session_listens_on_loopback_alone_and_takes_nothing_from_elsewhere() -> None:
    lines = session_conf("s3cret", 6800, Settings("", 16, 4)).splitlines()
    for line in ("rpc-secret=s3cret", "rpc-listen-all=false", "no-netrc=true", "auto-file-renaming=false"):
        assert line in lines
    # Each for a measured reason: no reservation that looks like content, a crash costs seconds of the transfer, small
    # pieces keep all connections busy, and patience is the driver's.
    for line in ("file-allocation=none", "auto-save-interval=1", "min-split-size=1M", "max-tries=3", "timeout=30"):
        assert line in lines
    assert "check-certificate=true" in lines
    assert not any(line.startswith(("header", "save-session", "log=", "ca-certificate")) for line in lines)


def test_a_file_has_the_same_name_in_every_session_and_another_for_another_commit() -> None:
    assert gid_of("c", "a") == gid_of("c", "a")
    assert len({gid_of("c", "a"), gid_of("c", "b"), gid_of("d", "a")}) == 3
    assert all(digit in "0123456789abcdef" for digit in gid_of("c", "a"))
    assert file_options("g", "/d", "sub/a", 16)["max-connection-per-server"] == "16"


def test_progress_reads_like_a_sentence() -> None:
    line = progress_line(212 * GIB, 590 * GIB, 1.9 * GIB, 61, 163)
    assert line == "212/590 GiB  36 %  1.9 GiB/s  ETA 3 min 19 s  61/163 files verified"
    assert progress_line(10, 10, 0, 1, 2) == "10/10 B  100 %  1/2 files verified"
    assert progress_line(0, 10 * GIB, 0, 0, 2) == "0.0/10.0 GiB  0 %  0 B/s  0/2 files verified"


def test_a_hundred_percent_means_the_last_byte() -> None:
    assert "  99 %  " in progress_line(590 * GIB - 1, 590 * GIB, GIB, 0, 1)


@pytest.mark.parametrize(("seconds", "text"), [(0, "0 s"), (59.4, "59 s"), (60, "1 min 0 s"), (7260, "2 h 1 min")])
def test_durations(seconds: float, text: str) -> None:
    assert readable_seconds(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (1536, "1.5 KiB"), (99 * GIB, "99.0 GiB"), (1 << 40, "1.0 TiB")]
)
def test_sizes(count: int, text: str) -> None:
    assert readable_bytes(count) == text
