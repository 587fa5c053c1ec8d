# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the bytes of a model's files come from: mirrors in their order, and then the hub itself.

Which files there are, and what they have to be, is the hub's word alone. A mirror is asked without the token, for the
same commit, and what it sends is held against the hub's listing: it can be slow or wrong, but do no harm. One that
does not answer, or sends something else, is out for the rest of the run.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
import threading
from typing import Callable, Iterator, Mapping

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.budget import Budget
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.disk import is_full
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import SourceFailed
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.client import Hub
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import ManifestFile
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.digests import kind_of
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_directory import ModelDirectory
from ansible_collections.inferops.sglang.plugins.module_utils._target.web import Web

# Below this size a second process is not worth its start: the module fetches the file itself.
SMALL_FILE_BYTES = 16 * 1024 * 1024


class ModelSources:
    """*mirrors* are by address; *out* says of each that is out for this run why, as dump() of the slice before gave it."""

    def __init__(
        self,
        repository: str,
        commit: str,
        web: Web,
        hub: Hub,
        mirrors: Mapping[str, Hub],
        has_token: bool,
        out: Mapping[str, str],
    ) -> None:
        self._repository = repository
        self._commit = commit
        self._web = web
        self._hub = hub
        self._mirrors = dict(mirrors)
        self._has_token = has_token
        self._lock = threading.Lock()
        self.out = dict(out)
        self._tried: dict[str, list[str]] = {}  # path -> mirrors that were given for it
        self._last: dict[str, str] = {}  # path -> the mirror it comes from now, "" for the hub

    def check_access(self, file: ManifestFile) -> None:
        """Whether the hub gives its files; with mirrors it may never be asked for one."""
        if not self._mirrors:
            self._hub.check_access(self._repository, self._commit, file)

    def locate(self, file: ManifestFile) -> str | None:
        """An address for aria2, or None where send() is to fetch the file; asked again, the next source has its turn."""
        for mirror in self._turns(file.path):
            try:
                return self._locate(file, self._mirrors[mirror], mirror, False)
            except HubError as error:
                if error.retryable:
                    self._rule_out(mirror, str(error))
        try:
            return self._locate(file, self._hub, "", self._has_token)
        except HubError as error:
            raise _as_source_failure(error) from None

    def send(self, file: ManifestFile, directory: ModelDirectory, stop: Callable[[], bool], budget: Budget) -> bool:
        """Fetch *file* from where locate() said into *directory*; False where *stop()* came first."""
        mirror = self._last.get(file.path, "")
        hub = self._mirrors.get(mirror, self._hub)
        url = hub.address(self._repository, self._commit, file.path)
        try:
            with directory.receiving(file.path) as out, budget.sending() as pace:
                refusal = self._web.save(url, hub.headers_for, out, file.size, stop, pace)
                arrived = out.seek(0, os.SEEK_END)
        except OSError as error:
            if is_full(error):
                raise  # no other source and no patience helps
            if mirror and not directory.look(file.path, file.size).held_bytes:
                self._rule_out(mirror, f"{mirror} did not answer the request for {file.path!r}: {error}")
            raise SourceFailed(str(error)) from None
        if refusal:
            reason = hub.explain(refusal, self._repository, f"file {file.path!r}")
            # Where a mirror refuses, the next source may not.
            raise SourceFailed(str(reason)) if mirror else _as_source_failure(reason)
        if arrived < file.size:
            if stop():
                return False
            raise SourceFailed(f"the connection ended after {arrived} of {file.size} bytes")
        directory.received(file.path)
        return True

    def found_wrong(self, file: ManifestFile) -> None:
        """*file* has arrived with other content than the listing says."""
        mirror = self._last.get(file.path, "")
        if mirror:
            self._rule_out(mirror, f"{mirror} sent other content for {file.path!r} than the hub's listing says")

    def _locate(self, file: ManifestFile, hub: Hub, mirror: str, has_token: bool) -> str | None:
        self._last[file.path] = mirror
        if kind_of(file.digest) == "git-sha1" and file.size <= SMALL_FILE_BYTES:
            return None
        source = hub.resolve(self._repository, self._commit, file)
        # aria2 would pass a token on to wherever a redirect leads, so it never gets one.
        if source.direct and (has_token or file.size <= SMALL_FILE_BYTES):
            return None
        return source.url

    def _turns(self, path: str) -> Iterator[str]:
        """The mirrors that are worth a try, each once for a file; whoever is given here counts as tried."""
        for mirror in self._mirrors:
            with self._lock:
                if mirror in self.out or mirror in self._tried.setdefault(path, []):
                    continue
                self._tried[path].append(mirror)
            yield mirror

    def _rule_out(self, mirror: str, reason: str) -> None:
        with self._lock:
            self.out.setdefault(mirror, reason)


def _as_source_failure(error: HubError) -> SourceFailed:
    return SourceFailed(str(error), not error.passes, error.wait_seconds)
