# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hub's client: what it asks, whom it tells the token, and what it says when it is refused."""

from __future__ import annotations

import json
from typing import Any, Mapping

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.client import Hub, Response
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError, rate_limit_wait
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import (
    Manifest,
    ManifestFile,
    dump_manifest,
    load_manifest,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.names import (
    NameRefused,
    check_paths,
    check_repository,
)
from hypothesis import given
from hypothesis import strategies as st

HERE = "https://hub.example"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SHA256 = 64 * "a"
WEIGHTS = ManifestFile("model.safetensors", 100, "sha256:" + SHA256)
TREE = [
    {"type": "directory", "path": "sub", "oid": 40 * "0", "size": 0},
    {"type": "file", "path": "sub/b.json", "oid": 40 * "b", "size": 2},
    {"type": "file", "path": "a.safetensors", "oid": 40 * "1", "size": 7, "lfs": {"oid": SHA256, "size": 7}},
]


class Wire:
    """Answers in the order given, and remembers who was asked for what with which token."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, str | None]] = []
        self.pauses: list[float] = []

    def __call__(self, method: str, url: str, headers: Mapping[str, str]) -> Response:
        self.asked.append((method, url, headers.get("Authorization")))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]

    def hub(self, token: str = "") -> Hub:
        return Hub(self, HERE + "/", token, self.pauses.append)


def good(value: Any, **headers: str) -> Response:
    return Response(200, headers, json.dumps(value).encode())


def refused(status: int, **headers: str) -> Response:
    return Response(status, {name.replace("_", "-"): value for name, value in headers.items()}, b"")


def redirect(location: str, **headers: str) -> Response:
    return refused(302, location=location, **headers)


def test_a_branch_is_pinned_with_one_request_and_a_commit_with_none() -> None:
    wire = Wire(good({"sha": COMMIT}))
    assert wire.hub().commit_of("org/m", "refs/pr/1") == COMMIT
    assert wire.hub().commit_of("org/m", COMMIT) == COMMIT
    assert wire.asked == [("GET", HERE + "/api/models/org/m/revision/refs%2Fpr%2F1", None)]


def test_the_listing_is_followed_over_its_pages_and_names_the_right_digests() -> None:
    following = f'<{HERE}/api/models/org/m/tree/{COMMIT}?cursor=x>; rel="next"'
    wire = Wire(good(TREE[:2], link=following), good(TREE[2:]))
    manifest = wire.hub().manifest("org/m", COMMIT)
    assert manifest.files == (
        ManifestFile("a.safetensors", 7, "sha256:" + SHA256),
        ManifestFile("sub/b.json", 2, "git-sha1:" + 40 * "b"),
    )
    assert wire.asked[1][1].endswith("?cursor=x")
    assert load_manifest(dump_manifest(manifest)) == manifest


def test_a_large_file_is_at_the_signed_address_and_the_token_stays_with_the_hub() -> None:
    wire = Wire(redirect("/org/renamed/x"), redirect("https://cdn.example/x?Signature=s"))
    source = wire.hub("hf_t").resolve("org/m", COMMIT, WEIGHTS)
    assert (source.url, source.direct) == ("https://cdn.example/x?Signature=s", False)
    assert [(url, token) for _method, url, token in wire.asked] == [
        (f"{HERE}/org/m/resolve/{COMMIT}/model.safetensors", "Bearer hf_t"),
        (HERE + "/org/renamed/x", "Bearer hf_t"),
    ]


@pytest.mark.parametrize(
    "elsewhere",
    ["https://cdn.example/x", "http://hub.example/x", "https://hub.example:444/x", "https://hub.example.evil/"],
)
def test_no_other_origin_ever_gets_the_token(elsewhere: str) -> None:
    assert "Authorization" in Wire().hub("hf_t").headers_for(HERE + "/x")
    assert "Authorization" not in Wire().hub("hf_t").headers_for(elsewhere)


def test_sizes_and_digests_are_asked_of_the_bytes_as_they_are() -> None:
    """A compressed answer would have another length than the listing says."""
    assert Wire().hub().headers_for(HERE + "/x")["Accept-Encoding"] == "identity"


def test_a_file_that_the_hub_sends_itself_is_direct() -> None:
    assert Wire(refused(200)).hub().resolve("org/m", COMMIT, WEIGHTS).direct


@pytest.mark.parametrize(
    ("announced", "sentence"),
    [
        ({"x_repo_commit": 40 * "9"}, "from commit 999"),
        ({"x_linked_size": "99"}, "(99 bytes, not 100)"),
        ({"x_linked_etag": '"' + 64 * "b" + '"'}, "announces other content"),
    ],
)
def test_an_answer_that_contradicts_the_listing_is_refused(announced: dict[str, str], sentence: str) -> None:
    with pytest.raises(HubError) as error:
        Wire(redirect("https://cdn.example/", **announced)).hub().resolve("org/m", COMMIT, WEIGHTS)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("status", "headers", "token", "sentence"),
    [
        (401, {"x_error_code": "GatedRepo"}, "", "org/m is gated and no token was given: accept the terms at " + HERE),
        (403, {"x_error_code": "GatedRepo"}, "t", "org/m is gated and the account of the given token has no access"),
        (401, {"x_error_message": "Invalid credentials in Authorization header"}, "t", "does not know the given token"),
        (401, {"x_error_code": "RepoNotFound"}, "", "it does not exist, or it is private and no token was given"),
        (401, {}, "", "it does not exist, or it is private and no token was given"),
        (404, {"x_error_code": "RepoNotFound"}, "t", "the account of the given token may not see it"),
        (404, {"x_error_code": "RevisionNotFound"}, "", "has no revision 'v9': name a branch, a tag or a full commit"),
        (403, {"x_error_message": "Access to this resource is disabled."}, "", "answered 403"),
    ],
)
def test_each_refusal_is_told_apart_and_asked_once(status: int, headers: Any, token: str, sentence: str) -> None:
    wire = Wire(refused(status, **headers))
    with pytest.raises(HubError) as error:
        wire.hub(token).commit_of("org/m", "v9")
    assert sentence in str(error.value)
    assert wire.pauses == []


def test_errors_that_pass_are_waited_for_a_little_longer_each_time() -> None:
    wire = Wire(refused(503), OSError("reset"), refused(500), good({"sha": COMMIT}))
    assert wire.hub().commit_of("org/m", "main") == COMMIT
    assert wire.pauses == [1, 2, 4]


def test_a_rate_limit_is_waited_for_as_long_as_the_hub_says() -> None:
    wire = Wire(refused(429, ratelimit='"api";r=0;t=87'), good({"sha": COMMIT}))
    wire.hub().commit_of("org/m", "main")
    assert wire.pauses == [88]
    assert rate_limit_wait({"ratelimit": '"api";r=3;t=87'}) == 0


def test_the_first_question_for_a_file_has_the_same_patience() -> None:
    wire = Wire(refused(503), OSError("reset"), refused(429, retry_after="9"), redirect("https://cdn.example/x"))
    wire.hub().check_access("org/m", COMMIT, WEIGHTS)
    assert wire.pauses == [1, 2, 9]


def test_the_first_question_for_a_file_that_is_refused_is_asked_once() -> None:
    wire = Wire(refused(401, x_error_code="GatedRepo"))
    with pytest.raises(HubError, match="org/m is gated and no token was given"):
        wire.hub().check_access("org/m", COMMIT, WEIGHTS)
    assert wire.pauses == []


def test_patience_ends() -> None:
    wire = Wire(*(5 * [OSError("Connection refused")]))
    with pytest.raises(HubError, match="did not answer the request for revision 'main' of org/m: Connection refused"):
        wire.hub().commit_of("org/m", "main")
    assert len(wire.pauses) == 4


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b""])
def test_a_page_with_status_200_is_not_taken_for_a_listing(body: bytes) -> None:
    with pytest.raises(HubError, match="is not JSON"):
        Wire(Response(200, {}, body)).hub().manifest("org/m", COMMIT)


@pytest.mark.parametrize(
    "listing", [{"error": "x"}, [1], [{"type": "file", "path": "a", "size": -1}], [{"type": "file"}], 5]
)
def test_a_listing_of_another_shape_is_refused(listing: Any) -> None:
    with pytest.raises(HubError, match="The listing of org/m"):
        Wire(good(listing)).hub().manifest("org/m", COMMIT)


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/.", "a\0b", "a\nb", "a\\b", "~/x", "x.aria2", "a.plain",
     ".model_download/lock", ".partial-x/y", 300 * "n"],
)  # fmt: skip
def test_hostile_paths_are_refused_by_name(path: str) -> None:
    with pytest.raises(NameRefused) as error:
        check_paths(["good.txt", path])
    assert repr(path) in str(error.value)


@pytest.mark.parametrize(
    "paths",
    [
        ["A.txt", "a.TXT"],
        ["\u00e9", "e\u0301"],
        ["a", "a/b"],
        ["a", "A/b/c"],
        ["stra\u00dfe", "STRASSE"],
        ["\u03aa\u0301", "\u0390"],
    ],  # equal only where normalisation follows the folding
)
def test_paths_that_could_overwrite_each_other_are_refused(paths: list[str]) -> None:
    with pytest.raises(NameRefused):
        check_paths(paths)


@given(st.text(max_size=30))
def test_an_accepted_path_stays_inside(path: str) -> None:
    try:
        check_paths([path])
    except NameRefused:
        return
    assert not path.startswith("/")
    assert ".." not in path.split("/")


def test_repository_ids() -> None:
    for name in ("gpt2", "moonshotai/Kimi-K2.6", "a_b/c.d"):
        check_repository(name)
    for name in ("", "a/b/c", "../x", "a/..", "a b", "https://x/y", "a/b?x", "/a"):
        with pytest.raises(NameRefused):
            check_repository(name)


def test_include_and_exclude_work_as_in_the_hubs_own_client() -> None:
    files = tuple(ManifestFile(path, 1, "") for path in ("a.json", "b.safetensors", "original/c.pth", "sub/d.json"))
    manifest = Manifest("org/m", COMMIT, files)

    def chosen(include: list[str], exclude: list[str]) -> list[str]:
        return [file.path for file in manifest.select(include, exclude)]

    assert chosen([], ["original/"]) == ["a.json", "b.safetensors", "sub/d.json"]
    assert chosen(["*.json"], []) == ["a.json", "sub/d.json"]
    assert chosen(["*.json"], ["sub/*"]) == ["a.json"]


@pytest.mark.parametrize("path", ["a\ud800", "a\x7f", "\t"])
def test_names_that_no_terminal_can_show_are_refused(path: str) -> None:
    with pytest.raises(NameRefused, match="The manifest m lists"):
        check_paths([path], "The manifest m")


def test_the_hub_is_told_to_wait_by_either_header_and_not_for_ever() -> None:
    wire = Wire(refused(429, retry_after="7"), refused(429, ratelimit='"api";r=0;t=999'))
    with pytest.raises(HubError, match="asks to wait 1000 s; with a token the limit is higher"):
        wire.hub().commit_of("org/m", "main")
    assert wire.pauses == [7]
