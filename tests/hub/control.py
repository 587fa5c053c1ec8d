# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults on demand, and the memory of what was asked: the tests' remote control."""

from __future__ import annotations

import fnmatch
import threading
from collections import Counter, deque
from dataclasses import asdict, dataclass, field
from typing import Any

KINDS = {
    "status": "answer with *status*, *headers* and *body*",
    "html200": "answer 200 with a login page",
    "rate_limited": "answer 429 with an exhausted RateLimit that resets after *seconds*",
    "expired": "refuse the signature, as after its expiry",
    "no_range": "ignore Range and send everything",
    "short_body": "announce the full length, send half of it and close",
    "cut": "close after *after_bytes* of the body",
    "stall": "send nothing more after *after_bytes* of the body, and keep the connection",
    "slow": "send at *bytes_per_second*",
    "paced": "let the kernel hold the connection to *bytes_per_second*; costs the hub nothing",
    "corrupt": "send the right number of bytes, one of them wrong",
    "redirect_loop": "redirect to the same address",
    "headers": "answer as usual, but with *headers* changed; an empty one is left out",
    "other_length": "serve the file as if it had *length* bytes, cut off or filled up with zeros",
}


@dataclass
class Fault:
    """Applies to the next *count* requests (-1: to all) on *origin* whose path matches the glob *match*.

    The first *skip* of those are passed over.
    """

    kind: str
    match: str = "*"
    origin: str = "any"
    method: str = "any"
    count: int = 1
    skip: int = 0
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    body: str = ""
    seconds: int = 1
    after_bytes: int = 0
    length: int = 0
    bytes_per_second: int = 1024 * 1024

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError("unknown fault kind {!r}; one of: {}".format(self.kind, ", ".join(KINDS)))

    def applies(self, origin: str, method: str, path: str) -> bool:
        return (
            self.count != 0
            and self.origin in ("any", origin)
            and self.method in ("any", method)
            and fnmatch.fnmatchcase(path, self.match)
        )


class Control:
    """The rules in force and the log of requests; the log keeps no token, only whether one was there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self._log: deque[dict[str, Any]] = deque(maxlen=20_000)
        self._counts: Counter[str] = Counter()

    def add(self, rules: list[dict[str, Any]]) -> None:
        faults = [Fault(**rule) for rule in rules]
        with self._lock:
            self._faults.extend(faults)

    def clear_faults(self) -> None:
        with self._lock:
            self._faults.clear()

    def faults(self) -> list[dict[str, Any]]:
        with self._lock:
            return [asdict(fault) for fault in self._faults]

    def fault(self, origin: str, method: str, path: str) -> Fault | None:
        """The first rule that applies; asking uses it up by one."""
        with self._lock:
            for fault in self._faults:
                if fault.applies(origin, method, path):
                    if fault.skip > 0:
                        fault.skip -= 1
                        continue
                    if fault.count > 0:
                        fault.count -= 1
                    return fault
        return None

    def record(self, origin: str, entry: dict[str, Any]) -> dict[str, Any]:
        entry = dict(entry, origin=origin)
        with self._lock:
            self._log.append(entry)
            self._counts[f"{origin}_requests"] += 1
            self._counts[f"{origin}_bytes"] += entry["bytes"]
            if entry["authorization"]:
                self._counts[f"{origin}_authorizations"] += 1
        return entry

    def add_bytes(self, origin: str, entry: dict[str, Any], sent: int) -> None:
        """The body of a file has left, or what the client took of it."""
        with self._lock:
            entry["bytes"] += sent
            self._counts[f"{origin}_bytes"] += sent

    def requests(self) -> dict[str, Any]:
        names = ("hub_requests", "cdn_requests", "hub_bytes", "cdn_bytes", "hub_authorizations", "cdn_authorizations")
        with self._lock:
            return {"counts": {name: self._counts[name] for name in names}, "log": [dict(entry) for entry in self._log]}

    def clear_requests(self) -> None:
        with self._lock:
            self._log.clear()
            self._counts.clear()
