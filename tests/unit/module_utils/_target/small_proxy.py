# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy that knows where a name leads that nobody else knows, wants a password, and remembers what it was asked."""

from __future__ import annotations

import base64
import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

USER = "proxy-user:proxy-password"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        server: SmallProxy = self.server  # type: ignore[assignment]
        wanted = f"Basic {base64.b64encode(USER.encode()).decode()}"
        split = urlsplit(self.path)
        if self.headers.get("Proxy-Authorization") != wanted or split.hostname != server.name:
            self._answer(407, b"", {})
            return
        connection = http.client.HTTPConnection("127.0.0.1", split.port)
        headers = {name: value for name, value in self.headers.items() if not name.startswith("Proxy-")}
        connection.request(self.command, f"{split.path}?{split.query}", headers=headers)
        answer = connection.getresponse()
        server.asked.append((self.headers.get("User-Agent", "").partition("/")[0], split.path))
        self._answer(answer.status, answer.read(), dict(answer.getheaders()))
        connection.close()

    do_HEAD = do_GET  # noqa: N815  the name http.server calls

    def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing on stderr."""


class SmallProxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, name: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.name = name
        self.asked: list[tuple[str, str]] = []  # (program, path)
        self.url = f"http://{USER}@127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
