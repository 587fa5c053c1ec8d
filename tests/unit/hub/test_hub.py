# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The local hub answers in the shapes that the real one documents."""

from __future__ import annotations

import hashlib
import http.client
import json
from pathlib import Path
from typing import Any, Iterator
from urllib.parse import urlsplit

import pytest
from hub.__main__ import Pair
from hub.store import git_blob_id

WEIGHTS = bytes(range(256)) * 64
TOKEN = "hf_unit"


class Client:
    def __init__(self, base: str) -> None:
        self._base = base

    def __call__(
        self, method: str, url: str, headers: dict[str, str] | None = None, body: str | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        split = urlsplit(url if "://" in url else self._base + url)
        connection = http.client.HTTPConnection(split.hostname or "", split.port or 80, timeout=5)
        connection.request(method, split.path + ("?" + split.query if split.query else ""), body, headers or {})
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, content

    def json(self, url: str) -> Any:
        return json.loads(self("GET", url)[2])

    def faults(self, *rules: dict[str, Any]) -> None:
        status, _headers, _body = self("POST", "/_hub/faults", body=json.dumps(rules))
        assert status == 200


@pytest.fixture
def root(tmp_path: Path) -> Path:
    model = tmp_path / "org" / "tiny"
    (model / "sub").mkdir(parents=True)
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(WEIGHTS)
    (model / "sub" / "note.txt").write_text("hello")
    return tmp_path


@pytest.fixture
def client(root: Path) -> Iterator[Client]:
    pair = Pair(root, "127.0.0.1", 0, 0, [TOKEN])
    pair.start()
    yield Client(pair.url)
    pair.stop()


def commit_of(client: Client) -> str:
    return str(client.json("/api/models/org/tiny/revision/main")["sha"])


def location_of(client: Client) -> str:
    return client("HEAD", "/org/tiny/resolve/main/model.safetensors")[1]["location"]


def test_a_commit_is_forty_hex_digits_and_a_revision_of_its_own(client: Client) -> None:
    commit = commit_of(client)
    assert len(commit) == 40
    assert client.json(f"/api/models/org/tiny/revision/{commit}")["sha"] == commit


def test_the_tree_tells_sizes_and_digests_over_several_pages(client: Client, root: Path) -> None:
    (root / "org" / "tiny.hub.json").write_text('{"page_size": 1}')
    items, url = [], "/api/models/org/tiny/tree/main?recursive=true"
    for _page in range(10):
        _status, headers, body = client("GET", url)
        items += json.loads(body)
        if "link" not in headers:
            break
        url = headers["link"].partition("<")[2].partition(">")[0]
    by_path = {item["path"]: item for item in items}
    assert by_path["sub"]["type"] == "directory"
    assert by_path["config.json"]["oid"] == git_blob_id(b"{}")
    assert by_path["model.safetensors"]["lfs"]["oid"] == hashlib.sha256(WEIGHTS).hexdigest()


def test_a_large_file_is_redirected_with_its_digest_and_sent_in_ranges_by_the_cdn(client: Client) -> None:
    status, headers, _body = client("HEAD", "/org/tiny/resolve/main/model.safetensors")
    assert (status, headers["x-linked-size"]) == (302, str(len(WEIGHTS)))
    assert headers["x-linked-etag"] == '"' + hashlib.sha256(WEIGHTS).hexdigest() + '"'
    assert headers["x-repo-commit"] == commit_of(client)
    status, ranged, body = client("GET", headers["location"], {"Range": "bytes=10-19"})
    assert (status, body, ranged["content-range"]) == (206, WEIGHTS[10:20], f"bytes 10-19/{len(WEIGHTS)}")
    assert client("GET", headers["location"], {"Range": "bytes=99999999-"})[0] == 416


def test_the_cdn_refuses_tokens_and_bad_or_old_signatures(client: Client, root: Path) -> None:
    location = location_of(client)
    assert client("GET", location, {"Authorization": "Bearer " + TOKEN})[0] == 400
    assert client("GET", location[:-1] + "x")[0] == 403
    (root / "org" / "tiny.hub.json").write_text('{"signature_seconds": -5}')
    assert client("GET", location_of(client))[0] == 403
    assert client.json("/_hub/requests")["counts"]["cdn_authorizations"] == 1


@pytest.mark.parametrize(
    ("settings", "token", "expected"),
    [
        ({"gated": True}, None, (401, "GatedRepo")),
        ({"gated": True}, TOKEN, (302, None)),
        ({"gated": True, "granted": ["hf_other"]}, TOKEN, (403, "GatedRepo")),
        ({"private": True}, None, (401, "RepoNotFound")),
        ({"private": True}, TOKEN, (302, None)),
        ({}, "hf_wrong", (401, None)),
    ],
)
def test_the_gate(
    client: Client, root: Path, settings: dict[str, Any], token: str | None, expected: tuple[int, str | None]
) -> None:
    (root / "org" / "tiny.hub.json").write_text(json.dumps(settings))
    sent = {"Authorization": f"Bearer {token}"} if token else {}
    status, headers, _body = client("HEAD", "/org/tiny/resolve/main/model.safetensors", sent)
    assert (status, headers.get("x-error-code")) == expected


def test_what_does_not_exist_is_told_apart(client: Client) -> None:
    known = {"Authorization": f"Bearer {TOKEN}"}
    assert client("GET", "/api/models/org/none/revision/main")[0] == 401
    assert client("GET", "/api/models/org/none/revision/main", known)[1]["x-error-code"] == "RepoNotFound"
    assert client("GET", "/api/models/org/tiny/revision/v9")[1]["x-error-code"] == "RevisionNotFound"
    assert client("HEAD", "/org/tiny/resolve/main/none")[1]["x-error-code"] == "EntryNotFound"


@pytest.mark.parametrize(
    ("rule", "status", "body"),
    [
        ({"kind": "status", "status": 503, "body": "later"}, 503, b"later"),
        ({"kind": "html200"}, 200, b"<html>login</html>"),
        ({"kind": "expired"}, 403, b"Request has expired"),
        ({"kind": "no_range"}, 200, WEIGHTS),
        ({"kind": "corrupt"}, 206, WEIGHTS[:9] + bytes([WEIGHTS[9] ^ 0xFF])),
        ({"kind": "rate_limited", "seconds": 7}, 429, b"Too Many Requests"),
    ],
)
def test_a_fault_strikes_as_often_as_told_and_then_never_again(
    client: Client, rule: dict[str, Any], status: int, body: bytes
) -> None:
    location = location_of(client)
    client.faults(dict(rule, origin="cdn", count=1))
    first = client("GET", location, {"Range": "bytes=0-9"})
    assert (first[0], first[2]) == (status, body)
    assert client("GET", location, {"Range": "bytes=0-9"})[2] == WEIGHTS[:10]


def test_a_cut_connection_ends_before_the_announced_length(client: Client) -> None:
    location = location_of(client)
    client.faults({"kind": "cut", "origin": "cdn", "after_bytes": 100})
    with pytest.raises(http.client.IncompleteRead) as error:
        client("GET", location)
    assert len(error.value.partial) == 100


def test_headers_can_be_changed_and_left_out(client: Client) -> None:
    client.faults({"kind": "headers", "origin": "hub", "headers": {"X-Linked-Size": "", "X-Repo-Commit": "1234"}})
    status, headers, _body = client("HEAD", "/org/tiny/resolve/main/model.safetensors")
    assert (status, "x-linked-size" in headers, headers["x-repo-commit"]) == (302, False, "1234")
    assert "x-linked-size" in client("HEAD", "/org/tiny/resolve/main/model.safetensors")[1]


@pytest.mark.parametrize("length", [100, 20_000])
def test_a_file_can_be_served_with_another_length(client: Client, length: int) -> None:
    location = location_of(client)
    client.faults({"kind": "other_length", "origin": "cdn", "length": length, "count": 2})
    assert client("GET", location)[2] == WEIGHTS[:length].ljust(length, b"\0")
    _status, headers, body = client("GET", location, {"Range": "bytes=90-"})
    assert (headers["content-range"], len(body)) == (f"bytes 90-{length - 1}/{length}", length - 90)


def test_an_unknown_fault_is_refused(client: Client) -> None:
    status, _headers, body = client("POST", "/_hub/faults", body='{"kind": "nonsense"}')
    assert status == 400
    assert b"unknown fault kind 'nonsense'" in body


def test_a_new_content_is_a_new_commit(client: Client, root: Path) -> None:
    before = commit_of(client)
    (root / "org" / "tiny" / "config.json").write_text('{"a": 1}')
    assert commit_of(client) != before
