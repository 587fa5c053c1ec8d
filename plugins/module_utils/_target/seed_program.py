# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that gives a model's verified files to the other hosts of a play, and keeps their plan if asked to.

It runs as a unit of its own (see seed_unit.py), writes nothing, and ends when nobody has asked for anything for a
while. Every request carries the key of a play; the program knows only digests of keys, from the file allowed.json.

    GET  /have                the digests of all verified files
    POST /plan                what a host is to take now, see _core.swarm.plan
    GET  /<key>/<digest>      a file, or a range of it; for aria2, which is given addresses and no headers

What cannot be given right now is answered with 503, because aria2 takes a 404 for final.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import glob
import hashlib
import http.client
import json
import os
import re
import socket
import socketserver
import struct
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from http.server import BaseHTTPRequestHandler
from typing import Any

from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.offers import Offer, offers
from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.pace import Pace
from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.plan import Plan

IDLE_SECONDS = 120.0
CHUNK_BYTES = 1 << 20
MAX_BODY_BYTES = 16 << 20
# How old an answer may be: of the receipts on this disk, and of what another host holds.
SCAN_SECONDS = 0.3
ASK_SECONDS = 1.0
ASK_TIMEOUT_SECONDS = 5.0
# Nobody waits longer for a host that is slow to say what it holds, and not at all where it was slow the last time.
WAIT_SECONDS = 2.0
STATE = ".model_download/receipts.json"


class Shelf:
    """The verified files below one model's directory: finished or staged, one revision or several side by side."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._scanned_at = float("-inf")
        self._stamps: dict[str, int] = {}
        self._offers: dict[str, Offer] = {}

    def offers(self) -> dict[str, Offer]:
        with self._lock:
            if time.monotonic() - self._scanned_at > SCAN_SECONDS:
                self._scan()
                self._scanned_at = time.monotonic()
            return self._offers

    def _scan(self) -> None:
        path = glob.escape(self._path)
        patterns = [f"{path}/{middle}{STATE}" for middle in ("", ".partial-*/", "*/", "*/.partial-*/")]
        stamps = {}
        for name in (name for pattern in patterns for name in glob.glob(pattern)):
            try:
                stamps[name] = os.stat(name).st_mtime_ns
            except OSError:
                continue
        if stamps == self._stamps:
            return
        found: dict[str, Offer] = {}
        for name in stamps:
            directory = os.path.dirname(os.path.dirname(name))
            # A staged file is given its own name while it is being offered.
            staged = os.path.basename(directory).startswith(".partial-")
            places = (directory, os.path.dirname(directory)) if staged else (directory,)
            try:
                with open(name, encoding="utf-8") as stream:
                    found.update(offers(stream.read(), places))
            except (OSError, UnicodeDecodeError):
                continue
        self._stamps, self._offers = stamps, found

    def open(self, digest: str) -> int | None:
        """A descriptor of the file, or None where it is not here, or not any more what was hashed."""
        offer = self.offers().get(digest)
        for place in offer.places if offer else ():
            try:
                descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            except OSError:
                continue
            if offer and offer.is_still(os.fstat(descriptor)):
                return descriptor
            os.close(descriptor)
        return None


class Keys:
    """The digests of the keys that open this host, read anew whenever their file has changed."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp = 0
        self._digests: frozenset[str] = frozenset()

    def opens(self, key: str) -> bool:
        try:
            stamp = os.stat(self._path).st_mtime_ns
            if stamp != self._stamp:
                with open(self._path, encoding="utf-8") as stream:
                    self._digests, self._stamp = frozenset(json.load(stream)), stamp
        except (OSError, ValueError):
            return False
        # Only digests are compared, so the time it takes tells nothing about a key.
        return hashlib.sha256(key.encode()).hexdigest() in self._digests


class Coordinator:
    """The plan, with the other hosts asked for what they hold before each answer."""

    def __init__(self) -> None:
        self._plan = Plan()
        self._lock = threading.Lock()
        self._due: dict[str, float] = {}
        self._asked: dict[str, Future[list[str] | None]] = {}
        self._slow: set[str] = set()
        self._pool = ThreadPoolExecutor(16)

    def answer(self, question: dict[str, Any], key: str) -> dict[str, str]:
        with self._lock:
            self._learn(question["hosts"], key)
            return self._plan.ask(
                question["host"],
                question["lacks"],
                question["failed"],
                question["wrong"],
                question["parallel_files"],
                time.monotonic(),
            )

    def _learn(self, hosts: list[str], key: str) -> None:
        for host in hosts:
            if host not in self._asked and self._due.get(host, 0.0) <= time.monotonic():
                self._asked[host] = self._pool.submit(_held_by, host, key)
        wait([future for host, future in self._asked.items() if host not in self._slow], WAIT_SECONDS)
        now = time.monotonic()
        for host, future in list(self._asked.items()):
            if not future.done():
                self._slow.add(host)
                continue
            del self._asked[host]
            self._due[host] = now + ASK_SECONDS
            digests = future.result()
            if digests is None:
                self._slow.add(host)
            else:
                self._slow.discard(host)
                self._plan.learn(host, digests, now)


def _held_by(host: str, key: str) -> list[str] | None:
    """What another host's program says it holds; None where it gives no answer."""
    connection = http.client.HTTPConnection(host, timeout=ASK_TIMEOUT_SECONDS)
    try:
        connection.request("GET", "/have", headers={"Authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        digests = json.loads(answer.read(MAX_BODY_BYTES)) if answer.status == 200 else None
        return [str(digest) for digest in digests] if isinstance(digests, list) else None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    # Not http.server's own class: that one asks the DNS for a name of the address before it listens.
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, address: tuple[str, int], path: str, allowed: str, bytes_per_second: int) -> None:
        self.address_family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0][0]
        self.shelf = Shelf(path)
        self.keys = Keys(allowed)
        self.coordinator = Coordinator()
        self.pace = Pace(bytes_per_second, time.monotonic, time.sleep)
        self.used_at = time.monotonic()
        super().__init__(address, Handler)

    def service_actions(self) -> None:
        if time.monotonic() - self.used_at > IDLE_SECONDS:
            threading.Thread(target=self.shutdown, daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A host that hangs up is nothing to report."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "inferops-seed"
    sys_version = ""
    timeout = 60
    server: Server

    def do_GET(self) -> None:
        key, _slash, digest = self.path[1:].partition("/")
        if self.path == "/have":
            if self._is_allowed(self._bearer()):
                self._json(sorted(self.server.shelf.offers()))
        elif self._is_allowed(key):
            self._file(digest)

    def do_POST(self) -> None:
        key, length = self._bearer(), self.headers.get("Content-Length", "")
        self.close_connection = True  # unless the body is read
        if not self._is_allowed(key):
            return
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            self._refuse(413)
            return
        self.close_connection = False
        try:
            answer = self.server.coordinator.answer(json.loads(self.rfile.read(int(length))), key)
        except (ValueError, TypeError, KeyError, AttributeError):
            self._refuse(400)
            return
        self._json(answer)

    def _bearer(self) -> str:
        return self.headers.get("Authorization", "")[len("Bearer ") :]

    def _is_allowed(self, key: str) -> bool:
        if self.server.keys.opens(key):
            self.server.used_at = time.monotonic()
            return True
        self._refuse(403)
        return False

    def _refuse(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _json(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _file(self, digest: str) -> None:
        descriptor = self.server.shelf.open(digest)
        if descriptor is None:
            self._refuse(503)
            return
        try:
            size = os.fstat(descriptor).st_size
            asked = re.match(r"bytes=(\d+)-(\d*)\Z", self.headers.get("Range", ""))
            first = int(asked.group(1)) if asked else 0
            last = min(size - 1, int(asked.group(2))) if asked and asked.group(2) else size - 1
            if asked and first > last:
                self._refuse(416)
                return
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(last - first + 1))
            self.send_header("Accept-Ranges", "bytes")
            if asked:
                self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
            self.end_headers()
            self._send(descriptor, first, last + 1)
        finally:
            os.close(descriptor)

    def _send(self, descriptor: int, offset: int, end: int) -> None:
        """The kernel copies from the file to the network; nothing of it passes through Python."""
        # sendfile() wants a blocking socket, and then the kernel's own clock for a reader that hangs.
        self.connection.settimeout(None)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("@ll", self.timeout, 0))
        try:
            while offset < end:
                count = min(CHUNK_BYTES, end - offset)
                self.server.pace.wait(count)
                offset += os.sendfile(self.connection.fileno(), descriptor, offset, count)
                self.server.used_at = time.monotonic()
        except OSError:  # the other side has enough, or is gone
            self.close_connection = True
        self.connection.settimeout(self.timeout)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: an address holds the key."""


def main() -> None:
    address, port, path, allowed, bytes_per_second = sys.argv[1:]
    with Server((address, int(port)), path, allowed, int(bytes_per_second)) as server:
        server.serve_forever(poll_interval=1.0)


if __name__ == "__main__":
    main()
