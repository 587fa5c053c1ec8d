# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes of the hub's answers (shared/field/downloads.md, B2), bent and met by the whole download.

What each refusal is called is in test_hub_client; here it is whether a download gets through, or touches nothing.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Iterator

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub import client
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError
from ansible_collections.inferops.sglang.plugins.module_utils._target import model_sources
from unit.module_utils._target.download_bench import TOKEN, Bench, hurry, needs_aria2c, open_bench

pytestmark = needs_aria2c
SHARD = "m-1.safetensors"
RESOLVE = f"*/resolve/*/{SHARD}"
FOR_EVER = -1


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    hurry(monkeypatch)
    with open_bench(tmp_path, monkeypatch) as bench:
        yield bench


def headers(bench: Bench, match: str, **changed: str) -> None:
    """The hub changes headers of every answer; an empty one is left out."""
    named = {name.replace("_", "-"): value for name, value in changed.items()}
    bench.faults({"kind": "headers", "origin": "hub", "match": match, "headers": named, "count": FOR_EVER})


def test_a_listing_over_pages_is_read_to_its_end(bench: Bench) -> None:
    bench.settings(page_size=2)
    bench.download()
    bench.assert_same()
    asked = [entry for entry in bench.pair.control.requests()["log"] if "/tree/" in entry["path"]]
    assert len(asked) == 4


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 503, "count": 2},
        {"kind": "status", "status": 408, "count": 1},
        {"kind": "rate_limited", "seconds": 1, "count": 1},
        {"kind": "cut", "after_bytes": 40, "count": 2},
    ],
    ids=lambda fault: f"{fault['kind']} {fault.get('status', '')}",
)
@pytest.mark.parametrize("page", [1, 2, 4])
def test_a_page_of_the_listing_that_fails_is_asked_for_again(bench: Bench, fault: dict[str, Any], page: int) -> None:
    bench.settings(page_size=2)
    bench.faults(dict(fault, match="*/tree/*", skip=page - 1))
    bench.download()
    bench.assert_same()


def test_a_page_of_the_listing_that_is_none_ends_it(bench: Bench) -> None:
    """Half a listing is no listing."""
    bench.settings(page_size=2)
    bench.faults({"kind": "html200", "match": "*/tree/*", "skip": 1})
    with pytest.raises(HubError, match="is not JSON"):
        bench.download()
    assert not bench.target.exists()


@pytest.mark.parametrize("token", ["", TOKEN])
@pytest.mark.parametrize("small_bytes", [1000, 1 << 24])
def test_a_hub_that_sends_large_files_itself(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, token: str, small_bytes: int
) -> None:
    """As mirrors do. aria2 may fetch them where there is no token that it would have to be given."""
    monkeypatch.setattr(model_sources, "SMALL_FILE_BYTES", small_bytes)
    bench.settings(direct=True)
    bench.download(token=token)
    bench.assert_same()
    log = [entry for entry in bench.pair.control.requests()["log"] if entry["path"].endswith(SHARD)]
    by_aria2 = not token and small_bytes == 1000
    assert len({entry["range"] for entry in log if entry["method"] == "GET"}) > 1 or not by_aria2
    assert bench.counts()["cdn_requests"] == 0
    started = [command for command in bench.units.commands if command[0] == "systemd-run"]
    assert bool(started) is by_aria2


def test_a_listing_without_end_is_left(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MAX_PAGES", 5)
    headers(bench, "*/tree/*", Link='</api/models/org/model/tree/main?cursor=0>; rel="next"')
    with pytest.raises(HubError, match="has more than 5 pages"):
        bench.download()
    assert not bench.target.exists()


def test_a_page_elsewhere_is_asked_without_the_token(bench: Bench) -> None:
    headers(bench, "*/tree/*", Link=f'<http://127.0.0.1:{bench.pair.cdn.server_port}/page>; rel="next"')
    with pytest.raises(HubError):
        bench.download(token=TOKEN)
    counts = bench.counts()
    assert (counts["cdn_requests"], counts["cdn_authorizations"], counts["hub_authorizations"]) == (1, 0, 2)


@pytest.mark.parametrize(
    "left_out", ["X_Linked_Size", "X_Linked_ETag", "X_Repo_Commit", "RateLimit", "RateLimit_Policy", "ETag"]
)
def test_a_mirror_that_tells_less_is_good_enough(bench: Bench, left_out: str) -> None:
    """The listing says what is right; a header that is there may only confirm it."""
    headers(bench, "*", **{left_out: ""})
    bench.download()
    bench.assert_same()


def test_weak_etags_and_headers_of_xet_do_not_matter(bench: Bench) -> None:
    digest = hashlib.sha256((bench.repository / SHARD).read_bytes()).hexdigest()
    headers(bench, RESOLVE, X_Linked_ETag=f'W/"{digest}"', X_Xet_Hash=64 * "0", ETag='W/"anything"')
    headers(bench, "*/config.json", ETag='W/"anything"')
    bench.download()
    bench.assert_same()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"X_Repo_Commit": 40 * "9"}, f"from commit {40 * '9'}, not "),
        ({"X_Linked_Size": "31"}, r"announces other content for 'm-1\.safetensors' .*31 bytes, not 3000080"),
        ({"X_Linked_ETag": '"' + 64 * "b" + '"'}, "announces other content"),
    ],
)
def test_a_resolver_that_contradicts_the_listing_is_not_followed(
    bench: Bench, changed: dict[str, str], sentence: str
) -> None:
    headers(bench, RESOLVE, **changed)
    with pytest.raises(TransferFailed, match=sentence):
        bench.download()
    assert bench.finished() == []
    assert bench.units.processes == {}


@pytest.mark.parametrize("match", ["/api/*/revision/*", "/api/*/tree/*"])
def test_a_page_from_the_api_is_no_hub(bench: Bench, match: str) -> None:
    bench.faults({"kind": "html200", "match": match, "count": FOR_EVER})
    with pytest.raises(HubError, match=f"is not JSON: is the endpoint {bench.pair.url} a hub"):
        bench.download()
    assert not bench.target.exists()


def test_a_page_from_the_resolver_passes(bench: Bench) -> None:
    """Status 200 to a question about a large file says that the hub itself sends it."""
    bench.faults({"kind": "html200", "match": RESOLVE, "count": 2})
    bench.download()
    bench.assert_same()


@pytest.mark.parametrize("path", [SHARD, "config.json"])
def test_pages_from_the_resolver_for_ever_end_the_download(bench: Bench, path: str) -> None:
    bench.faults({"kind": "html200", "match": f"*/resolve/*/{path}", "count": FOR_EVER})
    with pytest.raises(TransferFailed, match=path.replace(".", r"\.")):
        bench.download()
    assert bench.finished() == []
    assert bench.units.processes == {}


@pytest.mark.parametrize("length", [0, 1, 3])
def test_a_small_file_of_another_length_never_gets_a_name(bench: Bench, length: int) -> None:
    """A part of it is gone on with, which a server refuses (416) whose file ends there; the next run may meet a better one."""
    bench.faults({"kind": "other_length", "match": "*/config.json", "length": length, "count": FOR_EVER})
    with pytest.raises(
        TransferFailed, match=r"Cannot fetch config\.json: .*(after \d of 2 bytes|more than the 2 bytes|answered 416)"
    ):
        bench.download()
    assert bench.finished() == []
    bench.pair.control.clear_faults()
    bench.download()
    bench.assert_same()


def test_a_revision_with_slashes_is_quoted(bench: Bench) -> None:
    other = bench.repository.parent / "proposal"
    other.mkdir()
    (other / "config.json").write_text('{"proposed": 1}')
    bench.settings(revisions={"refs/pr/1": "proposal"})
    bench.download(revision="refs/pr/1")
    assert bench.finished() == ["config.json"]
    assert (bench.target / "config.json").read_text() == '{"proposed": 1}'


@pytest.mark.parametrize(
    ("settings", "wish", "sentence"),
    [
        ({"private": True}, {}, "it does not exist, or it is private and no token was given"),
        ({"gated": True, "granted": ["hf_other"]}, {"token": TOKEN}, "the account of the given token has no access"),
        ({}, {"token": "hf_wrong"}, "does not know the given token"),
        ({}, {"repository": "org/none", "token": TOKEN}, "the account of the given token may not see it"),
        ({}, {"revision": "v9"}, "has no revision 'v9'"),
    ],
)
def test_who_may_not_learns_why_before_anything_is_touched(
    bench: Bench, settings: dict[str, Any], wish: dict[str, Any], sentence: str
) -> None:
    bench.settings(**settings)
    with pytest.raises(HubError, match=sentence):
        bench.plan(**wish).check_access()
    assert not bench.target.exists()
    assert bench.counts()["cdn_requests"] == 0
