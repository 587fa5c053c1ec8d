# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP for the core's clients: to a hub, and to aria2 over loopback.

Ansible's own open_url builds a TLS context for every request, which reads all certificates of the system; a model
of some hundred files takes several hundred requests.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import http.client
import os
import ssl
from typing import Any, BinaryIO, Callable, Iterable, Mapping
from urllib.error import HTTPError
from urllib.parse import urljoin
from urllib.request import (  # type: ignore[attr-defined]
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    build_opener,
    getproxies_environment,
    proxy_bypass_environment,
)

from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.client import MAX_REDIRECTS, Response

USER_AGENT = "inferops.sglang"
TIMEOUT_SECONDS = 30
MAX_BODY_BYTES = 256 * 1024 * 1024
CHUNK_BYTES = 256 * 1024


class _NoRedirect(HTTPRedirectHandler):
    def redirect_request(self, *_arguments: Any) -> None:
        """Leave the answer as it is."""


class ProxyRefused(Exception):  # noqa: N818  reads better where it is raised
    """What is wrong with a proxy, as a sentence without its password."""


def proxies_of(proxy: str | None, no_proxy: str | None) -> dict[str, str]:
    """The proxy that was named, and where none was, those of the environment; keys http, https and no, each optional."""
    found = {name: value for name, value in getproxies_environment().items() if name in ("http", "https", "no")}
    named = {"http": proxy, "https": proxy, "no": no_proxy}
    proxies = {**found, **{name: value for name, value in named.items() if value}}
    for scheme in ("http", "https"):
        # aria2 knows no other kind; a name alone, as some environments have it, is one as well.
        kind = proxies.get(scheme, "").partition("://")
        if kind[1] and kind[0].lower() != "http":
            raise ProxyRefused(f"The proxy is a {kind[0]} proxy; it has to be http://[user:password@]host:port")
    for name in proxies.get("no", "").split(","):
        if "/" in name:
            raise ProxyRefused(f"no_proxy holds {name.strip()!r}; it is a list of names, domains and single addresses")
    return proxies


def without_proxy(proxies: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """*proxies*, with *names* among the hosts that are reached directly."""
    direct = [proxies.get("no", ""), *names]
    return {**proxies, "no": ",".join(name for name in direct if name)}


class _Proxies(ProxyHandler):
    """Proxies that were handed in: *proxies* by scheme, and under "no" the hosts that are reached directly."""

    def __init__(self, proxies: Mapping[str, str]) -> None:
        super().__init__({scheme: url for scheme, url in proxies.items() if scheme != "no"})
        self._all = dict(proxies)

    def proxy_open(self, req: Request, proxy: str, type: str) -> Any:
        if proxy_bypass_environment(req.host or "", self._all):
            return None
        return super().proxy_open(req, proxy, type)


class Web:
    """Requests that follow no redirect and read no .netrc, so that the caller decides where a token goes.

    *proxies* are those of proxies_of(), by default those of the environment. *ca_path* is a file of certificates in place of the system's.
    """

    def __init__(self, validate_certs: bool, ca_path: str | None, proxies: Mapping[str, str] | None = None) -> None:
        self._validate_certs = validate_certs
        self._ca_path = ca_path
        self._proxies = proxies_of(None, None) if proxies is None else proxies
        self._openers: dict[bool, OpenerDirector] = {}
        if ca_path:  # a file that cannot be read is told before the first request
            self._openers[True] = self._opener(self._trust())

    def _trust(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self._ca_path)
        if not self._validate_certs:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context

    def _opener(self, context: ssl.SSLContext) -> OpenerDirector:
        return build_opener(HTTPSHandler(context=context), _Proxies(self._proxies), _NoRedirect())

    def _opener_for(self, url: str) -> OpenerDirector:
        """To read the system's certificates takes longer than a listing from a mirror next door, which may have no TLS."""
        secure = url[:6].lower() == "https:"
        if secure not in self._openers:
            # Without TLS nobody is trusted, should a request come to need it after all.
            self._openers[secure] = self._opener(self._trust() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
        return self._openers[secure]

    def __call__(self, method: str, url: str, headers: Mapping[str, str]) -> Response:
        """The transport of the hub client."""
        answer = self._open(method, url, headers)
        try:
            body = answer.read(MAX_BODY_BYTES)
            # Asked for so many bytes, http.client takes a connection that was cut for the end of the answer.
            if getattr(answer, "length", 0) and len(body) < MAX_BODY_BYTES:
                raise OSError(f"the answer broke off {answer.length} bytes before its end")
            return Response(_status(answer), _headers(answer), body)
        except http.client.HTTPException as error:
            raise OSError(f"the answer broke off: {error!r}") from None
        finally:
            answer.close()

    def save(
        self,
        url: str,
        headers_for: Callable[[str], Mapping[str, str]],
        out: BinaryIO,
        size: int,
        stop: Callable[[], bool],
        pace: Callable[[int], None],
    ) -> Response | None:
        """Append what is missing of *size* bytes to *out*, until *stop()*; returns an answer that is not content.

        *pace(count)* returns when so many more bytes may be taken.

        Each address of a chain of redirects gets its own *headers_for(url)*.
        """
        for _redirect in range(MAX_REDIRECTS):
            headers = dict(headers_for(url))
            have = out.seek(0, os.SEEK_END)
            if have >= size:  # complete or too long, and yet not taken for good: begin again
                have = out.truncate(0)
            if have:
                headers["Range"] = f"bytes={have}-"
            answer = self._open("GET", url, headers)
            try:
                status = _status(answer)
                if status in (301, 302, 303, 307, 308):
                    url = urljoin(url, _headers(answer).get("location", ""))
                    continue
                if status == 200:
                    out.truncate(0)
                    out.seek(0)
                elif status != 206:
                    return Response(status, _headers(answer), b"")
                self._copy(answer, out, size, stop, pace)
                return None
            except http.client.HTTPException as error:
                raise OSError(f"the answer broke off: {error!r}") from None
            finally:
                answer.close()
        raise OSError("the redirects do not end")

    def _copy(
        self, answer: Any, out: BinaryIO, size: int, stop: Callable[[], bool], pace: Callable[[int], None]
    ) -> None:
        while not stop():
            pace(min(CHUNK_BYTES, size - out.tell()))
            chunk = answer.read(CHUNK_BYTES)
            if not chunk:
                return
            out.write(chunk)
            if out.tell() > size:
                raise OSError(f"more than the {size} bytes of the listing arrived")

    def _open(self, method: str, url: str, headers: Mapping[str, str]) -> Any:
        request = Request(url, headers=dict(headers, **{"User-Agent": USER_AGENT}), method=method)
        try:
            return self._opener_for(url).open(request, timeout=TIMEOUT_SECONDS)
        except HTTPError as answer:  # every status from 300 on arrives like this
            return answer
        except http.client.HTTPException as error:
            raise OSError(str(error)) from None


class Loopback:
    """The transport of the aria2 client: POST to 127.0.0.1, past any proxy."""

    def __init__(self, port: int) -> None:
        self._port = port

    def __call__(self, body: bytes) -> bytes:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=10)
        try:
            connection.request("POST", "/jsonrpc", body, {"Content-Type": "application/json"})
            return connection.getresponse().read()
        except http.client.HTTPException as error:
            raise OSError(f"aria2c broke off: {error!r}") from None
        finally:
            connection.close()


def _status(answer: Any) -> int:
    return int(getattr(answer, "status", None) or answer.code)


def _headers(answer: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in answer.headers.items()}
