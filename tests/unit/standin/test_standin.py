# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in server says, answers and dies like the real one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest

STANDIN = Path(__file__).resolve().parents[2] / "standin"


class Run:
    """One stand-in process whose lines are read one by one."""

    def __init__(self, model: Path, script: dict[str, Any], *arguments: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        environment = dict(
            os.environ, PYTHONPATH=str(STANDIN), SGLANG_STANDIN_SCRIPT=json.dumps(dict({"speed": 0.01}, **script))
        )
        command = [sys.executable, "-m", "sglang.launch_server", "--model-path", str(model)]
        command += ["--port", str(self.port), *arguments]
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []

    def until(self, text: str) -> None:
        """Read lines up to the one that holds `text`; the end of the log fails the test."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))
            if text in line:
                return
        raise AssertionError("never printed {}: {}".format(text, "\n".join(self.lines)))

    def end(self) -> int:
        """Read the rest and return the status as a shell would see it."""
        assert self.process.stderr is not None
        self.lines += [line.rstrip("\n") for line in self.process.stderr]
        status = self.process.wait(10)
        return 128 - status if status < 0 else status

    def call(self, path: str, body: dict[str, Any] | None = None, key: str = "") -> tuple[int, Any]:
        """One HTTP request without a proxy; returns status and JSON."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}")
        if body is not None:
            request.data = json.dumps(body).encode()
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, None


@pytest.fixture
def start(tmp_path: Path) -> Any:
    """Start stand-ins and leave none behind."""
    runs: list[Run] = []

    def starter(script: dict[str, Any], *arguments: str) -> Run:
        runs.append(Run(tmp_path, script, *arguments))
        return runs[-1]

    yield starter
    for run in runs:
        with contextlib.suppress(OSError):
            run.process.kill()
        run.process.wait(10)


CHAT = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 8}
READY = "fired up and ready"


def test_good_start_answers_and_drains(start: Any) -> None:
    """All phases in order, a generation, the key, and exit 0 on SIGTERM."""
    run = start({"reasoning": "think"}, "--tp-size", "2", "--api-key", "k", "--served-model-name", "tiny")
    run.until(READY)
    assert run.call("/health")[0] == 200
    assert run.call("/v1/models")[0] == 401
    assert run.call("/v1/models", key="k")[1]["data"][0]["id"] == "tiny"
    status, answer = run.call("/v1/chat/completions", CHAT, key="k")
    assert (status, answer["choices"][0]["message"]["content"]) == (200, "OK")
    assert answer["choices"][0]["message"]["reasoning_content"] == "think"
    run.process.send_signal(signal.SIGTERM)
    assert run.end() == 0
    log = "\n".join(run.lines)
    order = ["Init parallel begin", "Load weight begin", "Load weight end", "Memory pool end", "CUDA graph end"]
    order += ["Engine startup timings", "Uvicorn running", READY, "SIGTERM received", "Gracefully exiting"]
    positions = [log.index(text) for text in order]
    assert positions == sorted(positions)
    assert " TP1] Load weight begin" in log


@pytest.mark.parametrize(
    ("script", "arguments", "status", "line"),
    [
        ({"fault": "missing_module"}, (), 137, "ModuleNotFoundError: No module named 'vllm'"),
        ({"fault": "segfault"}, (), 1, "Rank 0 scheduler died during initialization (exit code: -11)"),
        ({"fault": "warmup_timeout"}, (), 137, "Initialization failed. warmup error: Traceback"),
        ({"fault": "vision_tower"}, (), 137, "ImportError: Vendored FlashAttention CUTE is not available"),
        ({"fault": "python_h"}, (), 137, "fatal error: Python.h: No such file or directory"),
        ({}, ("--nope",), 2, "sglang serve: error: unrecognized arguments: --nope"),
        ({}, ("--speculative-algorithm", "DDTREE"), 1, "ValueError: Unknown speculative algorithm name: DDTREE"),
    ],
)
def test_it_dies_like_the_real_one(
    start: Any, script: dict[str, Any], arguments: tuple[str, ...], status: int, line: str
) -> None:
    """Each fault has the real one's words and exit status."""
    run = start(script, *arguments)
    assert run.end() == status
    assert line in "\n".join(run.lines)


def test_the_obituary_may_come_before_the_traceback(start: Any) -> None:
    """The order that misleads readers of the last lines."""
    run = start({"fault": "missing_module", "obituary_first": True})
    assert run.end() == 137
    log = "\n".join(run.lines)
    assert log.index("Received sigquit") < log.index("ModuleNotFoundError")


def test_a_cure_in_the_arguments_keeps_the_fault_away(start: Any) -> None:
    """What remedies are tested with."""
    run = start(
        {"fault": "vision_tower", "cured_by": ["--mm-attention-backend triton_attn"]},
        "--mm-attention-backend",
        "triton_attn",
    )
    run.until(READY)


def test_config_file_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hyphenated keys, the command line wins, false flags vanish, --x/--no-x pairs are refused."""
    monkeypatch.syspath_prepend(str(STANDIN))
    from sglang.srt.server_args import prepare_server_args

    config = tmp_path / "config.yaml"
    config.write_text('# comment\nmodel-path: "/m"\nport: 31000\ntrust-remote-code: true\nskip-server-warmup: false\n')
    args: Any = prepare_server_args(["--config", str(config), "--port", "31001"])
    assert (args.port, args.trust_remote_code, args.skip_server_warmup) == (31001, True, False)
    config.write_text("model-path: /m\nenable-tf32-matmul: true\n")
    with pytest.raises(ValueError, match="Unsupported config option"):
        prepare_server_args(["--config", str(config)])
    config.write_text("model-path: /m\ntp_size: 2\n")
    with pytest.raises(SystemExit):
        prepare_server_args(["--config", str(config)])
