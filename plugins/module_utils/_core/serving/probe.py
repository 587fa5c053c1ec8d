# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real generation with its own deadline: the only proof that a server serves.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import time
import unicodedata
from dataclasses import dataclass
from typing import Any, Callable
from urllib.parse import urlsplit

_UNREADABLE = ("Cc", "Cf", "Cn", "Co", "Cs")  # control, format, unassigned, private, surrogate (Unicode categories)
_LARGEST = 1 << 20  # bytes of an answer that are read
MAX_TOKENS = 16  # more than one block of a speculative decoder, so that a verification step runs too


@dataclass(frozen=True)
class Endpoint:
    """Where to ask. `api_key` is sent as a bearer token and never shown."""

    url: str
    api_key: str = ""
    validate_certs: bool = True

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r})"


@dataclass(frozen=True)
class Answer:
    """What came back. `problem` is empty where text came; `final` means that asking again cannot help."""

    text: str = ""
    seconds: float = 0.0
    status: int = 0
    problem: str = ""
    final: bool = False


def check_url(url: str, name: str = "url") -> str:
    """A sentence about what is wrong with the URL of option `name`, or an empty string."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"{name} is {url!r}, which is no URL ({error})"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return f"{name} is {url!r}; it must look like http://127.0.0.1:30001"
    if port is None and parts.scheme == "http":
        return f"{name} is {url!r} and names no port; write for example http://{parts.hostname}:30001"
    return ""


def port_of(url: str) -> int:
    """The TCP port of a checked URL."""
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def request(
    endpoint: Endpoint,
    path: str,
    body: dict[str, Any] | None,
    deadline_seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[int, bytes]:
    """One HTTP request straight to the host, never through a proxy. Raises OSError or HTTPException."""
    parts = urlsplit(endpoint.url)
    until = clock() + deadline_seconds
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context()
        if not endpoint.validate_certs:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(
            parts.hostname or "", port_of(endpoint.url), timeout=deadline_seconds, context=context
        )
    else:
        connection = http.client.HTTPConnection(parts.hostname or "", port_of(endpoint.url), timeout=deadline_seconds)
    headers = {"Content-Type": "application/json", "Connection": "close"}
    if endpoint.api_key:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    try:
        data = None if body is None else json.dumps(body).encode("utf-8")
        connection.request("GET" if data is None else "POST", parts.path.rstrip("/") + path, data, headers)
        open_socket = connection.sock
        if open_socket is not None:
            open_socket.settimeout(max(0.01, until - clock()))
        response = connection.getresponse()
        chunks: list[bytes] = []
        size = 0
        while size < _LARGEST and not response.isclosed():
            left = until - clock()
            if left <= 0:
                raise socket.timeout("deadline")
            if open_socket is not None and open_socket.fileno() >= 0:
                open_socket.settimeout(left)
            chunk = response.read(65536)
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
        return response.status, b"".join(chunks)
    finally:
        connection.close()


def generate(
    endpoint: Endpoint,
    model: str,
    prompt: str,
    deadline_seconds: float,
    max_tokens: int = MAX_TOKENS,
    clock: Callable[[], float] = time.monotonic,
) -> Answer:
    """Ask for one chat completion. Text in `content` or in `reasoning_content` counts; a reasoning model may fill only
    the latter within so few tokens."""
    started = clock()
    body = {
        "model": model or "default",
        "messages": [{"role": "user", "content": prompt}],
        "temperature": 0,
        "max_tokens": max_tokens,
    }
    try:
        status, data = request(endpoint, "/v1/chat/completions", body, deadline_seconds, clock)
    except (socket.timeout, TimeoutError):
        return Answer(seconds=clock() - started, problem=f"no answer within {deadline_seconds:g} s")
    except ssl.SSLCertVerificationError as error:
        return Answer(problem=f"the certificate is not trusted ({error.verify_message})", final=True)
    except (OSError, http.client.HTTPException) as error:
        return Answer(seconds=clock() - started, problem=str(error) or type(error).__name__)
    return read_answer(status, data, clock() - started)


def read_answer(status: int, data: bytes, seconds: float) -> Answer:
    """Judge an HTTP answer by its shape; the text itself is judged by `judge_text`."""
    excerpt = data[:200].decode("utf-8", "replace").strip()
    if status in (401, 403):
        return Answer("", seconds, status, f"the server refused the API key (HTTP {status})", True)
    if status in (400, 404, 405, 422, 501):
        return Answer("", seconds, status, f"the server refused the request (HTTP {status}: {excerpt})", True)
    if status != 200:
        return Answer("", seconds, status, f"HTTP {status}: {excerpt}")
    try:
        choice = json.loads(data.decode("utf-8", "replace"))["choices"][0]
        message = choice["message"]
        text = (message.get("content") or "") or (message.get("reasoning_content") or "")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return Answer("", seconds, status, f"HTTP 200, but not a chat completion: {excerpt}", True)
    if not choice.get("finish_reason"):
        return Answer(str(text), seconds, status, "the answer has no finish_reason")
    return Answer(str(text), seconds, status)


def judge_text(text: str, expect: str = "") -> str:
    """A sentence about what is wrong with generated text, or an empty string."""
    plain = text.strip()
    if not plain:
        return "the answer is empty (neither content nor reasoning_content)"
    letters = [letter for letter in plain if not letter.isspace()]
    if all(letter == "\ufffd" or unicodedata.category(letter) in _UNREADABLE for letter in letters):
        return f"the answer holds nothing readable ({plain[:16]!r}): the tokenizer or the numerics are broken"
    if len(letters) >= 8 and len(set(letters)) == 1:
        return f"the answer is one repeated character ({plain[:16]!r}): the numerics are broken"
    if expect and not re.search(expect, text):
        return f"the answer {plain[:120]!r} does not match expect={expect!r}"
    return ""


def served_models(endpoint: Endpoint, deadline_seconds: float) -> list[str]:
    """The names under /v1/models; empty where the server does not tell."""
    try:
        status, data = request(endpoint, "/v1/models", None, deadline_seconds)
        listed = json.loads(data.decode("utf-8", "replace"))["data"] if status == 200 else []
        return [str(card["id"]) for card in listed]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return []


def still_warming_up(endpoint: Endpoint, deadline_seconds: float) -> bool:
    """True while the server itself says so: /ready (0.5.20 and newer) is 503 then; an older one has no such path."""
    try:
        return request(endpoint, "/ready", None, deadline_seconds)[0] == 503
    except (OSError, http.client.HTTPException):
        return True
