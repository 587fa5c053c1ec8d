# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Talk to a running aria2c: JSON-RPC over a transport that is handed in.

Interface: https://aria2.github.io/manual/en/html/aria2c.html#rpc-interface. aria2 writes all numbers as strings.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable, Mapping

# Takes the body of a request, gives the body of the answer (also that of an HTTP error); OSError where none came.
RpcTransport = Callable[[bytes], bytes]

_KEYS = ["gid", "status", "totalLength", "completedLength", "downloadSpeed", "errorCode", "errorMessage"]
_ALL = 100_000


class RpcError(Exception):
    """aria2 refused a call; the message is aria2's own and holds no secret."""


@dataclass(frozen=True)
class Status:
    """One download as aria2 sees it. *state*: active, waiting, paused, error, complete or removed."""

    gid: str
    state: str
    total_bytes: int
    completed_bytes: int
    bytes_per_second: int
    error_code: int
    error_message: str

    @property
    def seconds_left(self) -> float:
        """Until it is complete, at its present speed."""
        left = self.total_bytes - self.completed_bytes
        return left / self.bytes_per_second if left and self.bytes_per_second else float("inf")


class Aria2:
    def __init__(self, transport: RpcTransport, secret: str) -> None:
        self._transport = transport
        self._secret = secret

    def version(self) -> str:
        return str(self._call("aria2.getVersion")["version"])

    def downloads(self) -> dict[str, Status]:
        """Every download of the session by gid, in one request."""
        token = f"token:{self._secret}"
        batch: list[dict[str, Any]] = [
            {"methodName": "aria2.tellActive", "params": [token, _KEYS]},
            {"methodName": "aria2.tellWaiting", "params": [token, 0, _ALL, _KEYS]},
            {"methodName": "aria2.tellStopped", "params": [token, 0, _ALL, _KEYS]},
        ]
        statuses = {}
        for answer in self._request("system.multicall", [batch]):
            if not isinstance(answer, list):  # a fault takes the place of the one-element list of an answer
                raise RpcError(str(answer.get("message", answer)))
            for entry in answer[0]:
                statuses[entry["gid"]] = _status(entry)
        return statuses

    def add(self, url: str, options: Mapping[str, str]) -> None:
        self._call("aria2.addUri", [url], dict(options))

    def change(self, options: Mapping[str, str]) -> None:
        """Tell the running session other values of options."""
        self._call("aria2.changeGlobalOption", dict(options))

    def forget(self, gid: str) -> None:
        """Drop the memory of a stopped download, so that its gid can be used again."""
        self._call("aria2.removeDownloadResult", gid)

    def remove(self, gid: str) -> None:
        """Stop a download at once; its files stay."""
        self._call("aria2.forceRemove", gid)

    def shutdown(self) -> None:
        self._call("aria2.forceShutdown")

    def _call(self, method: str, *params: Any) -> Any:
        return self._request(method, [f"token:{self._secret}", *params])

    def _request(self, method: str, params: list[Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": "1", "method": method, "params": params}).encode()
        try:
            answer = json.loads(self._transport(body).decode("utf-8", "replace"))
        except ValueError:
            raise RpcError(f"the answer to {method} is not JSON") from None
        if not isinstance(answer, dict) or "result" not in answer:
            error = answer.get("error") if isinstance(answer, dict) else None
            raise RpcError(f"{method}: {error.get('message') if isinstance(error, dict) else answer!r}")
        return answer["result"]


def _status(entry: Mapping[str, str]) -> Status:
    return Status(
        gid=entry["gid"],
        state=entry["status"],
        total_bytes=int(entry.get("totalLength", "0")),
        completed_bytes=int(entry.get("completedLength", "0")),
        bytes_per_second=int(entry.get("downloadSpeed", "0")),
        error_code=int(entry.get("errorCode") or "0"),
        error_message=entry.get("errorMessage", ""),
    )
