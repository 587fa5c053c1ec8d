# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A manifest file means what it says or is refused; what the hub's own client leaves is understood."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.local import (
    Record,
    digest_of_etag,
    digest_of_link,
    parse_metadata,
    snapshot_of,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import (
    Manifest,
    ManifestFile,
    ManifestRefused,
    dump_manifest,
    load_manifest,
    read_manifest,
)
from hypothesis import given
from hypothesis import strategies as st

SHA256, BLOB, COMMIT = 64 * "a", 40 * "b", 40 * "c"
FILES = st.builds(
    ManifestFile, st.text(min_size=1), st.integers(0, 2**62), st.sampled_from([f"sha256:{SHA256}", f"git-sha1:{BLOB}"])
)


@given(st.lists(FILES, max_size=5), st.sampled_from(["", "org/m"]), st.sampled_from(["", COMMIT]))
def test_what_is_written_is_read_again(files: list[ManifestFile], repository: str, commit: str) -> None:
    manifest = Manifest(repository, commit, tuple(sorted(files, key=lambda file: file.path)))
    assert read_manifest(dump_manifest(manifest)) == manifest


def test_a_manifest_needs_files_and_nothing_else_and_other_keys_are_ignored() -> None:
    text = json.dumps({"changed": False, "files": [{"path": "a", "size": 0, "git_blob_id": BLOB, "mode": 7}]})
    assert read_manifest(text) == Manifest("", "", (ManifestFile("a", 0, f"git-sha1:{BLOB}"),))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("{", "it is not valid JSON"),
        ([], 'it has no list "files"'),
        ({"files": {}}, 'it has no list "files"'),
        ({"files": [1]}, "its file 1 is no object"),
        ({"files": [{"path": "a", "size": -1, "sha256": SHA256}]}, "has no path and size in bytes"),
        ({"files": [{"path": 5, "size": 1, "sha256": SHA256}]}, "has no path and size in bytes"),
        ({"files": [{"path": "a", "size": 1}]}, "has no sha256 of 64 lower-case hex digits"),
        ({"files": [{"path": "a", "size": 1, "sha256": SHA256.upper()}]}, "has no sha256 of 64 lower-case hex digits"),
        ({"files": [], "commit": "main"}, "its commit is 'main'"),
        ({"files": [], "repository": 5}, "of repository 5"),
    ],
)
def test_a_damaged_manifest_is_refused_with_the_reason(value: Any, sentence: str) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    with pytest.raises(ManifestRefused) as error:
        read_manifest(text)
    assert sentence in str(error.value)
    assert load_manifest(text) is None


@pytest.mark.parametrize(
    ("etag", "digest"),
    [
        (SHA256, f"sha256:{SHA256}"),
        (f'W/"{BLOB}"', f"git-sha1:{BLOB}"),
        ('"abc-5"', None),
        (64 * "z", None),
        ("", None),
    ],
)
def test_an_etag_is_a_digest_where_it_looks_like_one(etag: str, digest: str | None) -> None:
    assert digest_of_etag(etag) == digest


def test_the_clients_notes() -> None:
    assert parse_metadata(f"{COMMIT}\n{SHA256}\n175.5\n") == Record(COMMIT, f"sha256:{SHA256}")
    for damaged in ("", COMMIT, f"{COMMIT}\nx\n1\n"):
        assert parse_metadata(damaged) is None
    assert digest_of_link(f"../../../blobs/{BLOB}") == f"git-sha1:{BLOB}"
    assert digest_of_link("/models/config.json") is None
    assert snapshot_of(f"/c/models--org--a--b/snapshots/{COMMIT}/") == ("org/a--b", COMMIT)
    assert snapshot_of("/models/kimi") == ("", "")
