# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take a model's files from the other hosts of a play: ask the plan, and tell it what came of it.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Mapping, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import NotYet
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import ManifestFile
from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm.plan import ORIGIN

ASK_SECONDS = 1.0
# Something has changed, so a new answer is worth its question sooner.
ASK_SOON_SECONDS = 0.1
WAIT_SECONDS = 0.3
TIMEOUT_SECONDS = 15.0
# A host that does not answer is not asked for the plan again for so long; the next one keeps a plan meanwhile.
DEAD_SECONDS = 30.0
# aria2 has tried a few times by itself each time, so this often is enough to look for another source.
MAX_TRIES = 2


@dataclass(frozen=True)
class Group:
    """The hosts that share, as "address:port", in the same order on each of them; *own* is this one."""

    key: str
    hosts: Sequence[str]
    own: str

    @property
    def names(self) -> list[str]:
        """The hosts without their ports."""
        return [host.rpartition(":")[0].strip("[]") for host in self.hosts]


# Takes a host and a question, gives the answer; OSError where there is none.
Ask = Callable[[str, Mapping[str, Any]], Mapping[str, str]]


class Swarm:
    """*lacking* are the files that are not verified here; *sources* is what dump() of the slice before said."""

    def __init__(
        self,
        group: Group,
        lacking: Iterable[ManifestFile],
        parallel_files: int,
        sources: Mapping[str, str],
        ask: Ask | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._group = group
        self._parallel_files = parallel_files
        self._ask = ask or _Asker(group.key)
        self._clock = clock
        self._lock = threading.Lock()
        self._lacks = {file.path: file for file in lacking}
        self._takes: dict[str, str] = dict(sources)
        self._tries: dict[tuple[str, str], int] = {}  # (digest, source): how often it was given to the driver
        self._failed: list[tuple[str, str]] = []
        self._wrong: list[str] = []
        self._dead_until: dict[str, float] = {}
        self._asked_at = float("-inf")
        self._hurries = False
        self.shared_bytes = 0
        self.unreached: set[str] = set()

    def dump(self) -> dict[str, str]:
        """Where the files come from that are on their way."""
        return {digest: source for digest, source in self._takes.items() if source != ORIGIN}

    def address(self, file: ManifestFile) -> str | None:
        """An address for aria2, or None for the origin; NotYet where the file is to wait for its turn."""
        with self._lock:
            self._lacks.setdefault(file.path, file)
            self._refresh()
            source = self._takes.get(file.digest)
            if source and self._tries.get((file.digest, source), 0) >= MAX_TRIES:
                del self._tries[file.digest, source], self._takes[file.digest]
                self._failed.append((file.digest, source))
                self._hurries = True
                self._refresh()
                source = self._takes.get(file.digest)
            if source is None:
                raise NotYet(WAIT_SECONDS)
            if source == ORIGIN:
                return None
            self._tries[file.digest, source] = self._tries.get((file.digest, source), 0) + 1
            return f"http://{source}/{self._group.key}/{file.digest}"

    def checked(self, file: ManifestFile, right: bool) -> None:
        """The file has arrived and was hashed."""
        with self._lock:
            came_from_host = self._takes.get(file.digest, ORIGIN) != ORIGIN
            if right:
                self._lacks.pop(file.path, None)
                self.shared_bytes += file.size if came_from_host else 0
            elif came_from_host:
                self._wrong.append(file.digest)
                del self._takes[file.digest]  # the old plan would send it to the same host again
            self._hurries = True

    def _refresh(self) -> None:
        now = self._clock()
        if now - self._asked_at < (ASK_SOON_SECONDS if self._hurries else ASK_SECONDS):
            return
        question: dict[str, Any] = {
            "host": self._group.own,
            "hosts": list(self._group.hosts),
            "lacks": {file.digest: file.size for file in self._lacks.values()},
            "failed": self._failed,
            "wrong": self._wrong,
            "parallel_files": self._parallel_files,
        }
        # The first host that answers keeps the plan; all ask in the same order, so all ask the same one.
        for host in self._group.hosts:
            if self._dead_until.get(host, now) > now:
                continue
            try:
                self._takes = dict(self._ask(host, question))
                break
            except (OSError, ValueError):
                self._dead_until[host] = self._clock() + DEAD_SECONDS
                self.unreached.add(host)
        else:
            self._takes = dict.fromkeys(question["lacks"], ORIGIN)
        self._failed = []
        self._asked_at, self._hurries = self._clock(), False


class _Asker:
    def __init__(self, key: str) -> None:
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def __call__(self, host: str, question: Mapping[str, Any]) -> Mapping[str, str]:
        connection = http.client.HTTPConnection(host, timeout=TIMEOUT_SECONDS)
        try:
            connection.request("POST", "/plan", json.dumps(question), self._headers)
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise OSError(f"{host} answers {answer.status}")
            takes = json.loads(body)
            if not isinstance(takes, dict):
                raise ValueError("not a plan")
            return takes
        except http.client.HTTPException as error:
            raise OSError(f"{host} broke off: {error!r}") from None
        finally:
            connection.close()
