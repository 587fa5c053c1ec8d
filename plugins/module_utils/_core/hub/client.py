# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask a hub: which commit a revision is, which files it has, and where the bytes of one are.

The token goes to the endpoint's own origin and nowhere else: redirects are followed here, one by one.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Callable, Mapping, NamedTuple, TypeVar
from urllib.parse import quote, urljoin, urlsplit

from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError, explain
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import (
    Manifest,
    ManifestFile,
    file_of_tree_item,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.names import (
    check_paths,
    check_repository,
    is_commit,
)

MAX_REDIRECTS = 5
MAX_PAGES = 1000
ATTEMPTS = 5
_NEXT_PAGE = re.compile(r'<([^>]+)>\s*;[^,]*\brel="?next"?')

Answer = TypeVar("Answer")


class Response(NamedTuple):
    """An answer as the transport hands it over; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


# method, url, headers -> answer. It follows no redirect, and raises OSError where no answer came.
Transport = Callable[[str, str, Mapping[str, str]], Response]


@dataclass(frozen=True)
class Source:
    """Where the bytes of one file are. *direct*: the hub itself sends them and may want the token for it."""

    url: str
    direct: bool


class Hub:
    """*pause(seconds)* is called between attempts; only resolve() leaves them to its caller, who has other files to ask for."""

    def __init__(self, transport: Transport, endpoint: str, token: str, pause: Callable[[float], None]) -> None:
        self._transport = transport
        self._endpoint = endpoint.rstrip("/")
        self._token = token
        self._pause = pause

    def commit_of(self, repository: str, revision: str) -> str:
        """The full commit id of *revision*; one request, none where it is a commit id already."""
        check_repository(repository)
        if is_commit(revision):
            return revision
        url = f"{self._endpoint}/api/models/{repository}/revision/{quote(revision, safe='')}"
        about = self._json(url, repository, f"revision {revision!r}")[0]
        commit = about.get("sha") if isinstance(about, dict) else None
        if not isinstance(commit, str) or not is_commit(commit):
            raise HubError(f"{self._endpoint} names no commit for revision {revision!r} of {repository}")
        return commit

    def manifest(self, repository: str, commit: str) -> Manifest:
        """Every file at *commit*, over all pages. Raises NameRefused where a path is hostile."""
        check_repository(repository)
        url = f"{self._endpoint}/api/models/{repository}/tree/{commit}?recursive=true&expand=false"
        files: list[ManifestFile] = []
        for _page in range(MAX_PAGES):
            items, headers = self._json(url, repository, f"commit {commit}")
            files.extend(self._page(items, repository))
            following = _NEXT_PAGE.search(headers.get("link", ""))
            if not following:
                check_paths(file.path for file in files)
                return Manifest(repository, commit, tuple(sorted(files, key=lambda file: file.path)))
            url = urljoin(url, following.group(1))
        raise HubError(f"The listing of {repository} at {self._endpoint} has more than {MAX_PAGES} pages")

    def resolve(self, repository: str, commit: str, file: ManifestFile) -> Source:
        """Where *file* can be fetched right now; a signed address, which expires, or the hub's own.

        Refuses an answer that announces another commit, size or content than the manifest.
        """
        url = self.address(repository, commit, file.path)
        what = f"file {file.path!r}"
        for _redirect in range(MAX_REDIRECTS):
            response = self._ask("HEAD", url, repository, what)
            self._compare(response.headers, repository, commit, file)
            if response.status < 300:
                return Source(url, True)
            if response.status not in (301, 302, 303, 307, 308) or "location" not in response.headers:
                raise self.explain(response, repository, what)
            url = urljoin(url, response.headers["location"])
            if not self._is_hub(url):
                return Source(url, False)
        raise HubError(f"{self._endpoint} redirects the request for {what} of {repository} in a circle")

    def check_access(self, repository: str, commit: str, file: ManifestFile) -> None:
        """Ask for one file, because the listing of a gated repository is public and its files are not."""
        self._patiently(lambda: self.resolve(repository, commit, file))

    def address(self, repository: str, commit: str, path: str) -> str:
        return f"{self._endpoint}/{repository}/resolve/{commit}/{quote(path)}"

    def headers_for(self, url: str) -> dict[str, str]:
        """The headers of a request; the token is among them for the endpoint's own origin alone."""
        headers = {"Accept-Encoding": "identity"}
        if self._token and self._is_hub(url):
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _is_hub(self, url: str) -> bool:
        there, here = urlsplit(url), urlsplit(self._endpoint)
        return (there.scheme, there.netloc) == (here.scheme, here.netloc)

    def _page(self, items: Any, repository: str) -> list[ManifestFile]:
        try:
            files = [file_of_tree_item(item) for item in items]
        except (ValueError, AttributeError, TypeError) as error:
            raise HubError(f"The listing of {repository} at {self._endpoint} holds {error}") from None
        return [file for file in files if file is not None]

    def _json(self, url: str, repository: str, what: str) -> tuple[Any, Mapping[str, str]]:
        def get() -> Response:
            response = self._ask("GET", url, repository, what)
            if response.status != 200:
                raise self.explain(response, repository, what)
            return response

        response = self._patiently(get)
        try:
            return json.loads(response.body.decode("utf-8")), response.headers
        except ValueError:
            raise HubError(
                f"{url} answered 200 with something that is not JSON: is the endpoint {self._endpoint} a hub?"
            ) from None

    def _patiently(self, ask: Callable[[], Answer]) -> Answer:
        """Ask again what may pass: with back-off after errors, and after the hub's own word for rate limits."""
        for attempt in range(1, ATTEMPTS):
            try:
                return ask()
            except HubError as error:
                if not error.passes:
                    raise
                self._pause(error.wait_seconds or 2.0 ** (attempt - 1))
        return ask()

    def _ask(self, method: str, url: str, repository: str, what: str) -> Response:
        try:
            return self._transport(method, url, self.headers_for(url))
        except OSError as error:
            message = f"{self._endpoint} did not answer the request for {what} of {repository}: {error}"
            raise HubError(message, retryable=True) from None

    def explain(self, response: Response, repository: str, what: str) -> HubError:
        """What an answer that is not the thing asked for means."""
        return explain(response.status, response.headers, self._endpoint, repository, what, bool(self._token))

    def _compare(self, headers: Mapping[str, str], repository: str, commit: str, file: ManifestFile) -> None:
        told = headers.get("x-repo-commit", commit)
        size = headers.get("x-linked-size", str(file.size))
        content = headers.get("x-linked-etag", "").replace("W/", "").strip('"')
        if told != commit:
            raise HubError(f"{self._endpoint} serves {file.path!r} of {repository} from commit {told}, not {commit}")
        if size != str(file.size) or (len(content) == 64 and file.digest != f"sha256:{content}"):
            raise HubError(
                f"{self._endpoint} announces other content for {file.path!r} of {repository} than its own listing "
                f"({size} bytes, not {file.size}): try again, or name the original hub as the endpoint"
            )
