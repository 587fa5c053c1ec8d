# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The generation probe against a real socket, and the owner of a port."""

from __future__ import annotations

import http.server
import json
import threading
import time
from typing import Any, Callable, Iterator

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving import probe
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.sockets import (
    collides,
    holds_socket,
    listening_inodes,
    reachable_from_outside,
)

Reply = Callable[[http.server.BaseHTTPRequestHandler, bytes], None]


def chat(content: Any, reasoning: Any = None, finish: Any = "stop") -> bytes:
    """A chat completion."""
    message = {"role": "assistant", "content": content, "reasoning_content": reasoning}
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode()


@pytest.fixture
def serve() -> Iterator[Callable[[Reply], str]]:
    """A loopback server with one way to reply; it closes each connection, as uvicorn does when asked to."""
    servers: list[http.server.HTTPServer] = []

    def start(reply: Reply) -> str:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                reply(self, b"")

            def do_POST(self) -> None:
                reply(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *_args: Any) -> None:
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def send(handler: Any, status: int, data: bytes) -> None:
    """A whole reply with its length, then close."""
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(data)))
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(data)


def test_a_generation_is_read_whole_although_the_server_closes(
    serve: Callable[[Reply], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Key and prompt arrive, no proxy is used."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    seen: dict[str, Any] = {}

    def reply(handler: Any, data: bytes) -> None:
        seen.update(json.loads(data), key=handler.headers["Authorization"], path=handler.path)
        send(handler, 200, chat("OK"))

    answer = probe.generate(probe.Endpoint(serve(reply), "sk"), "m", "Say OK.", 5.0)
    assert (answer.text, answer.problem, answer.status) == ("OK", "", 200)
    assert (seen["key"], seen["path"], seen["model"]) == ("Bearer sk", "/v1/chat/completions", "m")
    assert seen["temperature"] == 0 and seen["messages"][0]["content"] == "Say OK."


@pytest.mark.parametrize(
    ("status", "data", "problem", "final"),
    [
        (401, b'{"error":"Unauthorized"}', "refused the API key", True),
        (404, b"no", "refused the request (HTTP 404", True),
        (501, b"<html>", "refused the request (HTTP 501", True),
        (503, b"", "HTTP 503", False),
        (200, b"<html>", "not a chat completion", True),
        (200, b'{"choices": []}', "not a chat completion", True),
        (200, b"null", "not a chat completion", True),
        (200, chat("x", finish=None), "no finish_reason", False),
    ],
)
def test_answers_that_are_none(status: int, data: bytes, problem: str, final: bool) -> None:
    """Each with its reason, and whether asking again can help."""
    answer = probe.read_answer(status, data, 0.1)
    assert problem in answer.problem and answer.final is final


def test_reasoning_counts_as_text() -> None:
    """A reasoning model may fill nothing else."""
    assert probe.read_answer(200, chat(None, "let me think"), 0.1).text == "let me think"


def test_a_server_that_never_answers_costs_the_deadline_and_no_more(serve: Callable[[Reply], str]) -> None:
    """A hung scheduler keeps the connection open."""
    release = threading.Event()

    def reply(_handler: Any, _data: bytes) -> None:
        release.wait(5)

    url = serve(reply)
    started = time.monotonic()
    answer = probe.generate(probe.Endpoint(url), "m", "x", 0.3)
    assert "no answer within 0.3 s" in answer.problem and time.monotonic() - started < 2
    release.set()


def test_nobody_listens() -> None:
    """Refused is a reason to ask again."""
    answer = probe.generate(probe.Endpoint("http://127.0.0.1:1"), "m", "x", 1.0)
    assert answer.problem and not answer.final


def test_warming_up_is_what_ready_says(serve: Callable[[Reply], str]) -> None:
    """503 is warming up; an older server has no such path."""
    assert probe.still_warming_up(probe.Endpoint(serve(lambda h, _d: send(h, 503, b""))), 1.0)
    assert not probe.still_warming_up(probe.Endpoint(serve(lambda h, _d: send(h, 404, b""))), 1.0)


@pytest.mark.parametrize(
    ("text", "expect", "problem"),
    [
        ("OK", "", ""),
        ("The answer is 4.", "4", ""),
        ("five", "4", "does not match expect='4'"),
        ("!!!!!!!!!!", "", "one repeated character"),
        ("!!!! !!!!\n!!", "", "one repeated character"),
        (" \n", "", "the answer is empty"),
        ("\ufffd\ufffd", "", "nothing readable"),
        ("\x00\u200b", "", "nothing readable"),
        ("\ufffd well", "", ""),
        ("好的", "", ""),
    ],
)
def test_texts_are_judged(text: str, expect: str, problem: str) -> None:
    """Empty, garbage, and not what was expected."""
    found = probe.judge_text(text, expect)
    assert problem in found and bool(problem) == bool(found)


@pytest.mark.parametrize("url", ["127.0.0.1:30001", "ftp://h:1", "http://h", "http://h:port", "http://:1", ""])
def test_bad_urls_are_refused_with_a_sentence(url: str) -> None:
    """The sentence names the option and the value."""
    assert probe.check_url(url).startswith(f"url is {url!r}")
    assert probe.check_url("http://127.0.0.1:30001") == ""


TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:7531 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 x
   1: 0100007F:7531 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 4243 1 x
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 17 1 x
"""


def test_whose_socket_it_is() -> None:
    """Only listening sockets of the port, and only of the given processes."""
    inodes = listening_inodes([TABLE, ""], 0x7531)
    assert inodes == {"4242": "0100007F"}
    links = {7: ["/dev/null", "socket:[4242]"], 8: ["socket:[17]"]}
    assert holds_socket([8, 7], inodes, lambda pid: links[pid]) == 7
    assert holds_socket([8], inodes, lambda pid: links[pid]) is None
    assert not reachable_from_outside("0100007F") and reachable_from_outside("00000000")
    assert not reachable_from_outside("0" * 24 + "01000000") and reachable_from_outside("0" * 32)
    assert not reachable_from_outside("0000000000000000FFFF00000100007F")  # ::ffff:127.0.0.1


@pytest.mark.parametrize(
    ("taken", "host", "collision"),
    [
        ("0100007F", "127.0.0.1", True),
        ("0100007F", "localhost", True),
        ("0100007F", "0.0.0.0", True),
        ("0100007F", "10.77.0.21", False),
        ("00000000", "10.77.0.21", True),
        ("15004D0A", "10.77.0.21", True),
        ("0" * 32, "127.0.0.1", True),
        ("0" * 24 + "01000000", "127.0.0.1", False),
        ("0100007F", "::", True),
        ("0100007F", "some.name", True),
    ],
)
def test_which_listeners_are_in_the_way(taken: str, host: str, collision: bool) -> None:
    """As bind(2) decides."""
    assert collides(taken, host) is collision
