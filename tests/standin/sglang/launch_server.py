# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The main process: parse, start the ranks, bind, warm up, serve, and end with the real one's words and statuses.

Exit statuses as measured of 0.5.23: 2 arguments, 1 configuration or a rank that died natively during start-up, 3 bind,
137 (its own SIGKILL) after a rank's exception or a failed warm-up, 143 for SIGTERM while loading, 0 after a drain.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
import urllib.request
import uuid
from collections.abc import Iterator
from typing import Any

from sglang.srt.server_args import prepare_server_args
from sglang.standin import startup
from sglang.standin.http import Server
from sglang.standin.script import Script

_FAILED = "It usually means"


class Rank:
    """The parent's handle on one scheduler process."""

    def __init__(self, number: int, brief: dict[str, Any]) -> None:
        self.number = number
        command = [sys.executable, "-m", "sglang.standin.scheduler"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = threading.Event()
        self._answers: dict[str, queue.Queue[bool]] = {}
        self._send(dict(brief, rank=number))
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, request: dict[str, Any], timeout: float | None) -> bool:
        """Send one request and wait for its answer; False after `timeout` seconds (None waits for ever)."""
        answer: queue.Queue[bool] = queue.Queue()
        identity = uuid.uuid4().hex
        self._answers[identity] = answer
        self._send(dict(request, id=identity))
        try:
            return answer.get(timeout=timeout)
        except queue.Empty:
            return False

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("ready"):
                self.ready.set()
            elif message.get("id") in self._answers:
                self._answers.pop(message["id"]).put(True)


class Engine:
    """The main process's state, shared with the HTTP handlers."""

    def __init__(self, args: Any, script: Script) -> None:
        self.args = args
        self.script = script
        self.armed = script.armed(self.args.merged_argv)
        self.ranks: list[Rank] = []
        self.up = False
        self.draining = False
        self.blocked = threading.Event()
        self.blocked.set()
        self.requests = 0
        self._running: set[str] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def in_flight(self) -> Iterator[None]:
        """Count one generation while it runs; a drain waits for it."""
        identity = uuid.uuid4().hex
        with self._lock:
            self.requests += 1
            self._running.add(identity)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(identity)

    def ask(self, request: dict[str, Any], timeout: float | None) -> bool:
        """Put one request through every rank."""
        answers = [rank.ask(request, timeout) for rank in self.ranks]
        return all(answers)

    def run(self) -> int:
        """Do everything; returns the exit status where the process does not kill itself."""
        startup.write(startup.entry_warning())
        self._imports()
        startup.log("server_args=" + repr({k: v for k, v in vars(self.args).items() if k != "merged_argv"}))
        startup.log("Using default HuggingFace chat template with detected content format: string")
        self._start_ranks()
        startup.log(startup.timings(0.4 * self.script.shards))
        return self._serve()

    def _imports(self) -> None:
        time.sleep(0.5 * self.script.speed)
        path = str(self.args.model_path)
        if path.startswith(("/", ".")) and not os.path.isdir(path):
            startup.log(f"kill_process_tree called: parent_pid={os.getpid()}, include_parent=False, pid={os.getpid()}")
            raise OSError(
                f"Repo id must be in the form 'repo_name' or 'namespace/repo_name': '{path}'. "
                "Use `repo_type` argument if needed."
            )
        if str(self.args.speculative_algorithm or "DFLASH") not in ("EAGLE", "EAGLE3", "NEXTN", "NGRAM", "DFLASH"):
            raise ValueError(f"Unknown speculative algorithm name: {self.args.speculative_algorithm}")
        if self.armed and self.script.phase == "imports" and self.script.fault == "exit":
            raise SystemExit(self.script.exit_status)

    def _start_ranks(self) -> None:
        signal.signal(signal.SIGQUIT, lambda *_: self.crash())
        kind = "LlamaForCausalLM"
        config = pathlib.Path(self.args.model_path, "config.json")
        with contextlib.suppress(OSError, ValueError, KeyError, IndexError):
            kind = json.loads(config.read_text(encoding="utf-8"))["architectures"][0]
        brief = {"tp_size": self.args.tp_size, "armed": self.armed, "kind": kind}
        self.ranks = [Rank(number, brief) for number in range(self.args.tp_size)]
        while not all(rank.ready.is_set() for rank in self.ranks):
            for rank in self.ranks:
                if rank.process.poll() is not None:
                    self._native_death(rank)
            time.sleep(0.1)

    def _native_death(self, rank: Rank) -> None:
        """A rank that died without Python noticing: the real parent raises this and exits with 1."""
        raise RuntimeError(
            f"Rank {rank.number} scheduler died during initialization (exit code: {rank.process.returncode}). If exit "
            "code is -9 (SIGKILL), a common cause is the OS OOM killer. Run `dmesg -T | grep -i oom` to check."
        )

    def _serve_as_worker(self) -> int:
        """A node of rank 1 or higher has no API: a dummy health server that always says 200, and no warm-up."""
        server = Server((self.args.host, self.args.port), self)
        startup.log(f"Dummy health check server started in background thread at {self.args.host}:{self.args.port}")
        server.serve_in_background()
        signal.signal(signal.SIGTERM, lambda *_: self._begin_drain())
        return self._watch(server)

    def _serve(self) -> int:
        if self.args.node_rank:
            return self._serve_as_worker()
        startup.log(f"INFO:     Started server process [{os.getpid()}]")
        startup.log("INFO:     Waiting for application startup.")
        startup.log("INFO:     Application startup complete.")
        host, port = self.args.host, self.args.port
        try:
            server = Server((host, port), self)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            startup.log(
                f"ERROR:    [Errno 98] error while attempting to bind on address ('{host}', {port}): "
                "address already in use"
            )
            startup.log("INFO:     Waiting for application shutdown.")
            time.sleep(self.script.bind_hang_seconds * self.script.speed)  # it joins a warm-up that talks to a stranger
            return 3
        signal.signal(signal.SIGTERM, lambda *_: self._begin_drain())
        server.serve_in_background()
        startup.log(f"INFO:     Uvicorn running on http://{host}:{port} (Press CTRL+C to quit)")
        threading.Thread(target=self._warm_up, daemon=True).start()
        return self._watch(server)

    def _warm_up(self) -> None:
        """Send the first request through the front door, as the real one does; a vision model's holds an image."""
        host = "127.0.0.1" if self.args.host == "0.0.0.0" else self.args.host
        base = f"http://{host}:{self.args.port}"
        if not self.args.skip_server_warmup:
            time.sleep(0.5 * self.script.speed)
            if self.armed and self.script.fault == "warmup_timeout":
                self._warm_up_failed()
            self._request(base + "/model_info", None)
            image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
            content: Any = (
                [image, {"type": "text", "text": "Describe"}] if self.script.fault == "vision_tower" else "Hi"
            )
            self._request(base + "/v1/chat/completions", {"messages": [{"content": content}], "max_tokens": 8})
            self._request(base + "/freeze_gc", {})
        self.up = True
        startup.log("The server is fired up and ready to roll!")

    def _request(self, url: str, body: dict[str, Any] | None) -> None:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.args.api_key or ''}"}
        data = None if body is None else json.dumps(body).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(url, data, headers)) as response:
            response.read()

    def _warm_up_failed(self) -> None:
        text = (
            "Traceback (most recent call last):\n"
            f'  File "{__file__}", line 2494, in _execute_server_warmup\n'
            "    res = requests.post(\n"
            f"requests.exceptions.ReadTimeout: HTTPConnectionPool(host='127.0.0.1', port={self.args.port}): "
            "Read timed out. (read timeout=600)\n"
        )
        startup.log("Initialization failed. warmup error: " + text)
        self._kill_tree()

    def _watch(self, server: Server) -> int:
        """The main thread: look at the ranks once a second, and end when a drain is complete."""
        looked = 0
        while True:
            for rank in self.ranks:
                status = rank.process.poll()
                if status is not None:
                    startup.log(
                        f"Subprocess scheduler_{rank.number} (pid={rank.process.pid}) crashed with exit code {status}. "
                        "Triggering SIGQUIT for cleanup..."
                    )
                    self.crash()
            if self.draining:
                with self._lock:
                    running = sorted(self._running)
                if looked % 5 == 0 or not running:
                    startup.log(
                        f"Gracefully exiting... Remaining number of requests {len(running)}. "
                        f"Remaining requests remaining_rids={running}."
                    )
                if not running:
                    return self._shut_down(server)
                looked += 1
            time.sleep(0.5 if self.draining else min(1.0, self.script.speed))

    def _begin_drain(self) -> None:
        startup.log("SIGTERM received. signum=None frame=None. Draining requests and shutting down...")
        self.draining = True

    def _shut_down(self, server: Server) -> int:
        time.sleep(0.3)  # the last answer is on its way to the client
        pid = os.getpid()
        startup.log(f"kill_process_tree called: parent_pid={pid}, include_parent=False, pid={pid}")
        startup.log("INFO:     Shutting down")
        startup.log("INFO:     Waiting for application shutdown.")
        startup.log("INFO:     Application shutdown complete.")
        startup.log(f"INFO:     Finished server process [{pid}]")
        server.server_close()
        for rank in self.ranks:
            rank.process.kill()
        return 0

    def crash(self) -> None:
        """A rank failed: the launch-phase words before the first request, the longer ones after it, then SIGKILL."""
        if self.requests == 0:
            startup.log(f"Received sigquit from a child process. {_FAILED} the child failed.")
            if self.script.obituary_first:
                time.sleep(0.5)
        else:
            startup.log(f"SIGQUIT received. signum=None, frame=None. {_FAILED} one child failed.")
            startup.log("Sleeping 5 seconds before crash diagnostics to let GPU activity settle.")
            self.blocked.clear()
            time.sleep(5 * self.script.speed)
            startup.log("No live scheduler processes found; skipping py-spy and CUDA coredump.")
        self._kill_tree()

    def _kill_tree(self) -> None:
        pid = os.getpid()
        startup.log(f"kill_process_tree called: parent_pid={pid}, include_parent=True, pid={pid}")
        for rank in self.ranks:
            rank.process.kill()
        os.kill(pid, signal.SIGKILL)


def replay(path: str, speed: float) -> int:
    """Print a saved log line by line, a tenth of a second each, and end with the status of its `exit N` line."""
    status = 0
    with open(path, encoding="utf-8", errors="surrogateescape") as handle:
        for line in handle:
            if line.startswith("exit ") and line[5:].strip().isdigit():
                status = int(line[5:])
                break
            startup.write(line)
            time.sleep(0.1 * speed)
    if status > 128:
        os.kill(os.getpid(), status - 128)
    return status


def main() -> int:
    """Run the server of the command line."""
    args = prepare_server_args(sys.argv[1:])
    script = Script.load()
    if script.replay:
        return replay(script.replay, script.speed)
    engine = Engine(args, script)
    try:
        return engine.run()
    except Exception:
        traceback.print_exc()
        for rank in engine.ranks:
            rank.process.kill()
        return 1


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)
