# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A look at an endpoint from where its clients are: does the address lead to the server that was proven on its host?

Runs on the controller, with the Python package requests.

Note that this plugin util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import ipaddress
import json
import ssl
import time
import warnings
from dataclasses import dataclass
from typing import Any, Callable, Sequence
from urllib.parse import urlsplit

from ansible_collections.inferops.sglang.plugins.module_utils._core.serving import probe

try:
    import requests
except ImportError:  # said by the action plugin, and only where a look was asked for
    requests = None  # type: ignore[assignment]

MISSING = (
    "client_url is set, but the Python package requests is missing on the controller; install it there "
    "(pip install requests), or leave client_url out."
)
CONNECT_SECONDS = 5.0
_ANY = ("0.0.0.0", "::")
_LARGEST = 1 << 20  # bytes of an answer that are read


@dataclass(frozen=True)
class Service:
    """What was proven on the host: the unit, the addresses it listens on, and the model it serves (any if empty)."""

    unit: str
    listening: Sequence[str] = ()
    model: str = ""
    prompt: str = "Say OK."


@dataclass(frozen=True)
class Client:
    """How clients ask. Without a key of ours, a refusal for want of one still shows that they get through."""

    url: str
    api_key: str = ""
    key_is_elsewhere: bool = False
    validate_certs: bool = True
    deadline_seconds: float = 60.0

    def __repr__(self) -> str:
        return f"Client({self.url!r})"


def look(service: Service, client: Client, clock: Callable[[], float] = time.monotonic) -> dict[str, Any]:
    """Ask for the models, then for one generation; returns `url`, `reachable`, `kind`, `problem` and `seconds`."""
    started = clock()
    kind, problem = _ask(service, client, clock)
    if problem:
        where = ", ".join(service.listening) or "its host"
        problem = (
            f"{service.unit} is ready on {where}, but not reachable at {client.url} from the controller: {problem}"
        )
    return {
        "url": client.url,
        "reachable": not problem,
        "kind": kind,
        "problem": problem,
        "seconds": round(clock() - started, 3),
    }


def _ask(service: Service, client: Client, clock: Callable[[], float]) -> tuple[str, str]:
    until = clock() + client.deadline_seconds
    try:
        status, data = _request(client, "/v1/models", None, min(until, clock() + 2 * CONNECT_SECONDS), clock)
        if status in (401, 403):
            if client.key_is_elsewhere:
                return "reached", ""
            return "key", f"the API key is refused there (HTTP {status})."
        names = _names(data) if status == 200 else []
        if status != 200 or not names:
            return "answer", f"something else answers there (HTTP {status} at /v1/models: {_excerpt(data)})."
        if service.model and service.model not in names:
            return "model", f"another server answers there; it serves {', '.join(names)}, not {service.model}."
        body = {
            "model": service.model or names[0],
            "messages": [{"role": "user", "content": service.prompt}],
            "temperature": 0,
            "max_tokens": probe.MAX_TOKENS,
        }
        answer = probe.read_answer(*_request(client, "/v1/chat/completions", body, until, clock), 0.0)
    except requests.exceptions.RequestException as error:
        return explained(error, client, service.listening)
    problem = answer.problem or probe.judge_text(answer.text)
    return ("answer", f"{problem}.") if problem else ("reached", "")


def _request(
    client: Client, path: str, body: dict[str, Any] | None, until: float, clock: Callable[[], float]
) -> tuple[int, bytes]:
    """One request with a deadline for all of it, straight to the address."""
    with requests.Session() as session, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that certificates are not checked was the user's own word
        session.trust_env = False  # neither a proxy nor a netrc: clients have their own
        headers = {"Authorization": f"Bearer {client.api_key}"} if client.api_key else {}
        with session.request(
            "GET" if body is None else "POST",
            client.url.rstrip("/") + path,
            json=body,
            headers=headers,
            timeout=(CONNECT_SECONDS, max(0.1, until - clock())),
            verify=_trust_store() if client.validate_certs else False,
            allow_redirects=False,
            stream=True,
        ) as answer:
            data = b""
            for chunk in answer.iter_content(65536):
                data += chunk
                if clock() > until:
                    raise requests.exceptions.ReadTimeout("deadline")
                if len(data) > _LARGEST:
                    break
            return answer.status_code, data


def _trust_store() -> str | bool:
    """The controller's own certificates, among them those of a company, where it has a store; else those of requests."""
    paths = ssl.get_default_verify_paths()
    return paths.cafile or paths.capath or True


def explained(error: Exception, client: Client, listening: Sequence[str]) -> tuple[str, str]:
    """(kind, sentence) for a request that got no answer: what stands between the controller and the server."""
    text = str(error)
    parts = urlsplit(client.url)
    bound = [address for address in listening if address not in _ANY]
    if isinstance(error, requests.exceptions.SSLError) or "WRONG_VERSION_NUMBER" in text:
        return "tls", _about_tls(text)
    if "NameResolutionError" in text or "Failed to resolve" in text or "getaddrinfo" in text:
        return "name", f"the name {parts.hostname} does not resolve there; check it, or give the address."
    if listening and len(bound) == len(listening) and parts.hostname not in bound:
        # Whatever the network says, nothing can arrive.
        loopback = all(ipaddress.ip_address(address).is_loopback for address in bound)
        return (
            "loopback" if loopback else "refused",
            f"the server is bound to {', '.join(bound)}. Set host to 0.0.0.0 (sglang_service_host), or give the address of "
            "the proxy in front of it.",
        )
    if isinstance(error, requests.exceptions.ReadTimeout):
        return "timeout", f"it accepts connections, but gave no answer within {client.deadline_seconds:g} s."
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return (
            "timeout",
            f"nothing answered within {CONNECT_SECONDS:g} s; a firewall drops the packets, or the address is not this host's.",
        )
    if "Connection refused" in text:
        return (
            "refused",
            "the connection is refused; a firewall rejects it, or nothing forwards this address to the host.",
        )
    if "No route to host" in text or "unreachable" in text:
        return "unreachable", "there is no route to it, or a firewall says so."
    if "RemoteDisconnected" in text or "Connection aborted" in text or "reset" in text:
        advice = "; it may want https" if parts.scheme == "http" else ""
        return "answer", f"it closed the connection without an answer{advice}."
    return "unreachable", f"{type(error).__name__}: {text[:200]}"


def _about_tls(text: str) -> str:
    if "WRONG_VERSION_NUMBER" in text or "record layer" in text:
        return "it speaks no TLS there; use http:// or put TLS in front of it."
    if "CERTIFICATE_VERIFY_FAILED" in text or "certificate" in text:
        reason = text.rpartition("certificate verify failed: ")[2].split("(_ssl")[0]
        reason = reason.strip()
        return (
            f"its certificate is not trusted by the controller ({reason[:160]}); install the authority there, or set "
            "client_validate_certs to false."
        )
    return f"TLS failed ({text[:160]})."


def _names(data: bytes) -> list[str]:
    try:
        return [str(card["id"]) for card in json.loads(data.decode("utf-8", "replace"))["data"]]
    except (ValueError, KeyError, TypeError):
        return []


def _excerpt(data: bytes) -> str:
    text = data[:120].decode("utf-8", "replace").strip()
    return "".join(letter if letter.isprintable() else " " for letter in text) or "an empty answer"
