# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What both origins share: one answer, its log entry, and the faults that change it."""

from __future__ import annotations

import contextlib
import socket
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from hub.control import Control, Fault

LOGIN_PAGE = b"<html>login</html>"
CHUNK_BYTES = 256 * 1024
SO_MAX_PACING_RATE = 47  # linux/socket.h; Python has no name for it
UNPACED = (1 << 32) - 1


class Origin(BaseHTTPRequestHandler):
    """A request handler that answers ``GET`` and ``HEAD`` through ``answer()`` of its subclass."""

    protocol_version = "HTTP/1.1"
    origin = "origin"
    control: Control
    fault: Fault | None = None
    paced = False

    def do_GET(self) -> None:
        split = urlsplit(self.path)
        self.fault = self.control.fault(self.origin, self.command, unquote(split.path))
        self.close_connection = False
        self.answer(split.path, split.query)

    do_HEAD = do_GET  # noqa: N815  the name http.server calls

    def answer(self, path: str, query: str) -> None:
        raise NotImplementedError

    def early_fault(self, headers: dict[str, str]) -> bool:
        """Send the faults that replace an answer; True when one did."""
        fault = self.fault
        if fault is None:
            return False
        if fault.kind == "status":
            self.reply(fault.status, fault.body.encode(), dict(headers, **fault.headers))
        elif fault.kind == "html200":
            self.reply(200, LOGIN_PAGE, dict(headers, **{"Content-Type": "text/html"}))
        elif fault.kind == "rate_limited":
            limit = {"RateLimit": f'"resolvers";r=0;t={fault.seconds}'}
            self.reply(429, b"Too Many Requests", dict(headers, **limit))
        elif fault.kind == "redirect_loop":
            self.reply(302, b"", dict(headers, Location=self.path))
        else:
            return False
        return True

    def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        headers.setdefault("Content-Type", "text/plain; charset=utf-8")
        self._send_headers(headers)
        self.send_header("Content-Length", str(len(body)))
        sent = 0 if self.command == "HEAD" else len(body)
        self.note(status, sent)
        self.end_headers()
        if self.fault and self.fault.kind == "cut":
            sent, self.close_connection = min(sent, self.fault.after_bytes), True
        self.wfile.write(body[:sent])

    def reply_file(self, file: Path, size: int, headers: dict[str, str]) -> None:
        """Send *file*, or the range of it that was asked for; 416 beyond its end."""
        if self.fault and self.fault.kind == "other_length":
            size = self.fault.length
        first, last, partial = 0, size - 1, False
        asked = self.headers.get("Range", "")
        if asked.startswith("bytes=") and not (self.fault and self.fault.kind == "no_range"):
            begin, _, end = asked[len("bytes=") :].partition("-")
            first = int(begin) if begin else max(0, size - int(end))
            last = min(size - 1, int(end)) if begin and end else size - 1
            if first > last:
                self.reply(416, b"", dict(headers, **{"Content-Range": f"bytes */{size}"}))
                return
            partial = True
        self.send_response(206 if partial else 200)
        self._send_headers(headers)
        self.send_header("Content-Length", str(last - first + 1))
        self.send_header("Accept-Ranges", "bytes")
        if partial:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        entry = self.note(206 if partial else 200, 0)
        self._pace()
        self.end_headers()
        if self.command != "HEAD":
            with file.open("rb") as stream:
                self.control.add_bytes(self.origin, entry, self._send(stream, first, last - first + 1))

    def _send_headers(self, headers: dict[str, str]) -> None:
        if self.fault and self.fault.kind == "headers":
            headers = {**headers, **self.fault.headers}
        for name, value in headers.items():
            if value:
                self.send_header(name, value)

    def _pace(self) -> None:
        """Set or lift the limit of this connection, which may have served another request before."""
        paced = self.fault is not None and self.fault.kind == "paced"
        rate = self.fault.bytes_per_second if self.fault and paced else UNPACED
        if paced or self.paced:
            self.connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, rate)
        self.paced = paced

    def _send(self, stream: BinaryIO, first: int, length: int) -> int:
        fault = self.fault
        if fault is None or fault.kind in ("no_range", "paced", "headers"):
            try:
                return self.connection.sendfile(stream, first, length) if length else 0
            except OSError:  # the client has enough; how much it took is where the file stands
                self.close_connection = True
                return max(0, stream.tell() - first)
        early = min(length, fault.after_bytes)
        limit = {"short_body": length // 2, "cut": early, "stall": early}.get(fault.kind, length)
        self.close_connection = self.close_connection or limit < length
        stream.seek(first)
        sent = 0
        while sent < limit:
            wanted = min(CHUNK_BYTES, limit - sent)
            chunk = bytearray(stream.read(wanted).ljust(wanted, b"\0"))
            if fault.kind == "corrupt" and sent == 0:
                chunk[-1] ^= 0xFF
            if fault.kind == "slow":
                time.sleep(len(chunk) / fault.bytes_per_second)
            try:
                self.wfile.write(chunk)
            except OSError:
                self.close_connection = True
                break
            sent += len(chunk)
        if fault.kind == "stall":
            with contextlib.suppress(OSError):
                self.connection.recv(1)  # until the client has had enough
        return sent

    def note(self, status: int, sent: int) -> dict[str, Any]:
        """Write the log entry, before the answer leaves: who has it can rely on finding it in the log."""
        entry: dict[str, Any] = {
            "method": self.command,
            "path": unquote(urlsplit(self.path).path),
            "range": self.headers.get("Range", ""),
            "status": status,
            "bytes": sent,
            "authorization": "Authorization" in self.headers,
        }
        return self.control.record(self.origin, entry)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr: the log is asked for at ``/_hub/requests``."""
