# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look from where the clients are, against real sockets."""

from __future__ import annotations

import http.server
import itertools
import json
import shutil
import socket
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from ansible_collections.inferops.sglang.plugins.plugin_utils import client_look
from ansible_collections.inferops.sglang.plugins.plugin_utils.client_look import Client, Service

OPEN = Service("sglang.service", ("0.0.0.0",), "tiny")
Serve = Callable[..., str]


class Handler(http.server.BaseHTTPRequestHandler):
    """An SGLang as clients see it."""

    models = ("tiny",)
    text = "OK"
    key = ""

    def do_GET(self) -> None:
        """The models."""
        self._send({"data": [{"id": name} for name in self.models]})

    def do_POST(self) -> None:
        """One generation."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send({"choices": [{"message": {"content": self.text}, "finish_reason": "stop"}]})

    def _send(self, payload: dict[str, Any]) -> None:
        allowed = not self.key or self.headers["Authorization"] == f"Bearer {self.key}"
        data = json.dumps(payload if allowed else {"error": "Unauthorized"}).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: Any) -> None:
        """Nothing."""


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server on loopback; keywords change the handler, `tls` is a certificate."""
    servers: list[http.server.HTTPServer] = []

    def start(tls: Path | None = None, **attributes: Any) -> str:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Its", (Handler,), attributes))
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_redirect_is_no_answer(serve: Serve) -> None:
    """It leads to another server than the one whose address was given, and often to a login page."""
    real = serve()

    class Redirect(Handler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", real + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()

    found = client_look.look(OPEN, Client(serve(do_GET=Redirect.do_GET)))
    assert (found["reachable"], found["kind"]) == (False, "answer")
    assert "HTTP 302" in found["problem"]


def test_reached_without_a_proxy_of_the_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The models, then one generation; with the key."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")
    found = client_look.look(OPEN, Client(serve(key="sk"), "sk"))
    assert (found["kind"], found["reachable"], found["problem"]) == ("reached", True, "")


@pytest.mark.parametrize(
    ("attributes", "kind", "problem"),
    [
        ({"key": "sk"}, "key", "the API key is refused there (HTTP 401)."),
        ({"models": ("other", "more")}, "model", "another server answers there; it serves other, more, not tiny."),
        ({"models": ()}, "answer", "something else answers there (HTTP 200 at /v1/models:"),
        ({"text": "!!!!!!!!!!!"}, "answer", "one repeated character"),
    ],
)
def test_what_answers_is_not_what_was_proven(serve: Serve, attributes: dict[str, Any], kind: str, problem: str) -> None:
    """The sentence says what a client would find."""
    url = serve(**attributes)
    found = client_look.look(OPEN, Client(url))
    assert found["kind"] == kind and not found["reachable"]
    assert found["problem"].startswith(
        f"sglang.service is ready on 0.0.0.0, but not reachable at {url} from the controller: "
    )
    assert problem in found["problem"]


def test_a_key_that_the_controller_does_not_have_is_no_obstacle(serve: Serve) -> None:
    """Refused for want of a key is reached."""
    assert client_look.look(OPEN, Client(serve(key="sk"), key_is_elsewhere=True))["reachable"]


def test_bound_to_loopback_comes_before_what_the_network_says() -> None:
    """The story's end: ready, and nobody gets through."""
    found = client_look.look(Service("s", ("127.0.0.1",)), Client(f"http://127.0.0.2:{free_port()}"))
    assert found["kind"] == "loopback"
    assert "the server is bound to 127.0.0.1. Set host to 0.0.0.0" in found["problem"]


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def test_refused_and_a_name_that_does_not_resolve() -> None:
    """Two ways to reach nobody."""
    refused = client_look.look(OPEN, Client(f"http://127.0.0.1:{free_port()}"))
    assert refused["kind"] == "refused" and "a firewall rejects it" in refused["problem"]
    unknown = client_look.look(OPEN, Client("http://no-such-host.invalid:1"))
    assert unknown["kind"] == "name" and "no-such-host.invalid does not resolve" in unknown["problem"]


class Crowd:
    """Fill a listener's queue."""

    def __init__(self, address: Any) -> None:
        self.sockets = [socket.socket() for _ in range(4)]
        for one in self.sockets:
            one.setblocking(False)
            one.connect_ex(address)

    def __enter__(self) -> None:
        """Stay connected."""

    def __exit__(self, *_error: Any) -> None:
        for one in self.sockets:
            one.close()


def test_a_connection_that_nobody_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A firewall that drops: connecting takes its own limit and no more."""
    monkeypatch.setattr(client_look, "CONNECT_SECONDS", 0.05)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        with Crowd(full.getsockname()):
            found = client_look.look(OPEN, Client(f"http://127.0.0.1:{full.getsockname()[1]}", deadline_seconds=0.2))
    assert found["kind"] == "timeout"


def test_a_server_that_drips_gets_no_longer_than_the_deadline(serve: Serve) -> None:
    """Each byte renews a socket's timeout, but not ours: the clock stands for a slow server."""
    clock = itertools.count(0.0, 50.0)
    found = client_look.look(OPEN, Client(serve(), deadline_seconds=60.0), lambda: next(clock))
    assert found["kind"] == "timeout" and "no answer within 60 s" in found["problem"]


def test_tls_where_there_is_none_and_the_other_way_round(serve: Serve, tmp_path: Path) -> None:
    """Each side of a wrong scheme, and a certificate that nobody signed."""
    plain = serve()
    found = client_look.look(OPEN, Client(plain.replace("http:", "https:")))
    assert found["kind"] == "tls" and "it speaks no TLS there" in found["problem"]
    if not shutil.which("openssl"):
        pytest.skip("needs openssl to make a certificate")
    pem = tmp_path / "both.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=x"]
    make += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*make, "-keyout", str(pem), "-out", str(tmp_path / "cert")], check=True, capture_output=True)
    pem.write_text(pem.read_text() + (tmp_path / "cert").read_text())
    url = serve(tls=pem)
    assert client_look.look(OPEN, Client(url, validate_certs=False))["reachable"]
    untrusted = client_look.look(OPEN, Client(url))
    assert untrusted["kind"] == "tls" and "not trusted by the controller (self-signed" in untrusted["problem"]
    cleartext = client_look.look(OPEN, Client(url.replace("https:", "http:")))
    assert cleartext["kind"] == "answer" and "it may want https" in cleartext["problem"]
