# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The first origin: the API, the resolver, accounts, and the control endpoint of the tests."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from hub.origin import Origin
from hub.signing import Signer
from hub.store import Settings, Snapshot, Store, tree_item

WINDOW_SECONDS = 300


class Quota:
    """A fixed window of *quota* requests, told in the ``RateLimit`` header of every answer."""

    def __init__(self, quota: int) -> None:
        self._quota = quota
        self._window = 0
        self._used = 0

    def header(self, name: str) -> tuple[str, bool]:
        now = int(time.time())
        if now // WINDOW_SECONDS != self._window:
            self._window, self._used = now // WINDOW_SECONDS, 0
        self._used += 1
        left = max(0, self._quota - self._used)
        return f'"{name}";r={left};t={WINDOW_SECONDS - now % WINDOW_SECONDS}', self._used > self._quota


class Hub(Origin):
    origin = "hub"
    store: Store
    signer: Signer
    tokens: frozenset[str]
    quotas: dict[str, Quota]
    cdn_port: int
    scheme: str

    def answer(self, path: str, query: str) -> None:
        if path.startswith("/_hub/"):
            self._steer(path)
            return
        api = path.startswith("/api/models/")
        name = "api" if api else "resolvers"
        limit, exhausted = self.quotas[name].header(name)
        headers = {"RateLimit": limit, "RateLimit-Policy": f'"fixed window";"{name}";q=3000;w={WINDOW_SECONDS}'}
        if self.early_fault(headers):
            return
        if exhausted:
            self.reply(429, b"Too Many Requests", headers)
        elif api:
            self._api(path[len("/api/models/") :].split("/"), query, headers)
        else:
            self._resolve(path[1:].split("/"), headers)

    def do_POST(self) -> None:  # noqa: N802  the name http.server calls
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            rules = json.loads(body)
            self.control.add(rules if isinstance(rules, list) else [rules])
        except (ValueError, TypeError) as error:
            self._json(400, {"error": str(error)}, {})
            return
        self._json(200, self.control.faults(), {})

    def do_DELETE(self) -> None:  # noqa: N802  the name http.server calls
        if self.path == "/_hub/faults":
            self.control.clear_faults()
        else:
            self.control.clear_requests()
        self._json(200, {}, {})

    def note(self, status: int, sent: int) -> dict[str, Any]:
        return {} if self.path.startswith("/_hub/") else super().note(status, sent)

    def _steer(self, path: str) -> None:
        answers = {"/_hub/requests": self.control.requests, "/_hub/faults": self.control.faults}
        if path in answers:
            self._json(200, answers[path](), {})
        else:
            self._json(404, {"error": "no such control"}, {})

    def _api(self, parts: list[str], query: str, headers: dict[str, str]) -> None:
        if len(parts) < 4 or parts[2] not in ("revision", "tree"):
            self._error(404, "", "Not Found", headers)
            return
        repository, kind, revision = "/".join(parts[:2]), parts[2], unquote(parts[3])
        settings = self._admit(repository, headers, reads_content=False)
        snapshot = settings and self._snapshot(repository, revision, settings, headers)
        if not settings or not snapshot:
            return
        if kind == "revision":
            names = [{"rfilename": name} for name in snapshot.blobs]
            about = {"id": repository, "sha": snapshot.commit, "private": settings.private, "siblings": names}
            self._json(200, dict(about, gated="auto" if settings.gated else False), headers)
            return
        items = [tree_item(blob) for blob in snapshot.blobs.values()]
        items += [{"type": "file", "oid": "0" * 40, "size": 1, "path": path} for path in settings.extra_paths]
        items += [{"type": "directory", "oid": "0" * 40, "size": 0, "path": d} for d in _directories(snapshot)]
        begin = int(parse_qs(query).get("cursor", ["0"])[0])
        end = begin + settings.page_size
        if end < len(items):
            base = f"{self.scheme}://{self.headers['Host']}/api/models/{repository}/tree/{quote(revision, safe='')}"
            headers["Link"] = f'<{base}?recursive=true&cursor={end}>; rel="next"'
        self._json(200, items[begin:end], headers)

    def _resolve(self, parts: list[str], headers: dict[str, str]) -> None:
        if len(parts) < 5 or parts[2] != "resolve":
            self._error(404, "", "Not Found", headers)
            return
        repository, revision, path = "/".join(parts[:2]), unquote(parts[3]), unquote("/".join(parts[4:]))
        settings = self._admit(repository, headers, reads_content=True)
        snapshot = settings and self._snapshot(repository, revision, settings, headers)
        if not settings or not snapshot:
            return
        headers["X-Repo-Commit"] = snapshot.commit
        blob = snapshot.blobs.get(path)
        if blob is None:
            self._error(404, "EntryNotFound", "Entry not found", headers)
        elif blob.lfs and not settings.direct:
            address = f"/{repository}/{blob.sha256}"
            host = self.headers["Host"].rpartition(":")[0]
            signed = self.signer.query(address, settings.signature_seconds)
            headers["Location"] = f"{self.scheme}://{host}:{self.cdn_port}{address}?{signed}"
            headers["X-Linked-Size"] = str(blob.size)
            headers["X-Linked-ETag"] = f'"{blob.sha256}"'
            self.reply(302, b"Found. Redirecting to the content", headers)
        else:
            headers["ETag"] = f'"{blob.oid}"'
            headers["Content-Type"] = "text/plain; charset=utf-8"
            self.reply_file(blob.file, blob.size, headers)

    def _admit(self, repository: str, headers: dict[str, str], reads_content: bool) -> Settings | None:
        """The settings of a repository this caller may use; otherwise the refusal has been sent.

        As on the real hub the metadata of a gated repository is public, and a stranger cannot tell a private
        repository from none at all.
        """
        sent = self.headers.get("Authorization", "")
        token = sent[len("Bearer ") :]
        if sent and self.tokens and token not in self.tokens:
            self._error(401, "", "Invalid credentials in Authorization header", headers)
            return None
        settings = self.store.settings(repository)
        if settings is None or (settings.private and not token):
            self._error(404 if token else 401, "RepoNotFound", "Repository not found", headers)
            return None
        if settings.gated and reads_content:
            text = f"Access to model {repository} is restricted and you are not in the authorized list."
            if not token:
                self._error(401, "GatedRepo", text, headers)
                return None
            if settings.granted and token not in settings.granted:
                self._error(403, "GatedRepo", text, headers)
                return None
        return settings

    def _snapshot(self, repository: str, revision: str, settings: Settings, headers: dict[str, str]) -> Snapshot | None:
        snapshot = self.store.snapshot(repository, revision, settings)
        if snapshot is None:
            self._error(404, "RevisionNotFound", f"Invalid rev id: {revision}", headers)
        return snapshot

    def _error(self, status: int, code: str, text: str, headers: dict[str, str]) -> None:
        if code:
            headers["X-Error-Code"] = code
        headers["X-Error-Message"] = text
        self.reply(status, text.encode(), headers)

    def _json(self, status: int, value: Any, headers: dict[str, str]) -> None:
        headers["Content-Type"] = "application/json; charset=utf-8"
        self.reply(status, json.dumps(value).encode(), headers)


def _directories(snapshot: Snapshot) -> list[str]:
    return sorted({path.rpartition("/")[0] for path in snapshot.blobs if "/" in path})
