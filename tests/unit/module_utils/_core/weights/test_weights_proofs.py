# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The index is compared with its shards in both directions; digests and receipts are what they claim."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.digests import digest_of, is_digest
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.index import (
    WeightIndexError,
    compare_index,
    parse_index,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.receipts import (
    dump_receipts,
    load_receipts,
    receipt_for,
)
from hypothesis import given
from hypothesis import strategies as st

DIGEST = "sha256:" + 64 * "a"


def test_an_index_that_fits_has_no_defect() -> None:
    weight_map = parse_index(b'{"metadata": {"total_size": "wrong"}, "weight_map": {"a": "1", "b": "2"}}')
    assert compare_index(weight_map, {"1": ["a"], "2": ["b"]}, ()) == []


@pytest.mark.parametrize(
    ("shards", "defect"),
    [
        ({"1": ["a"]}, "it names 2, which is not there"),
        ({"1": ["a"], "2": ["c"]}, "it says that 2 holds tensor 'b'; the file does not"),
        ({"1": ["a"], "2": ["c"]}, "2 holds tensor 'c', which the index does not give it"),
        ({"1": [], "2": ["b"]}, "it says that 1 holds tensor 'a'; the file does not"),
    ],
)
def test_every_disagreement_is_told(shards: dict[str, list[str]], defect: str) -> None:
    assert defect in compare_index({"a": "1", "b": "2"}, shards, ())


def test_a_shard_left_out_on_purpose_is_no_defect() -> None:
    assert compare_index({"a": "1", "b": "2"}, {"1": ["a"]}, {"2"}) == []


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"<html>", "it is not valid JSON"),
        (b"{}", "it has no weight_map object"),
        (b'{"weight_map": {"a": "../x"}}', "it maps tensor 'a' to '../x'"),
        (b'{"weight_map": {"a": "/x"}}', "it maps tensor 'a' to '/x'"),
        (b'{"weight_map": {"a": "1", "a": "2"}}', "an object names the same key twice"),
    ],
)
def test_a_broken_index_is_refused(raw: bytes, sentence: str) -> None:
    with pytest.raises(WeightIndexError) as error:
        parse_index(raw)
    assert sentence in str(error.value)


@given(st.binary(max_size=3000))
def test_both_kinds_of_digest(content: bytes) -> None:
    assert digest_of(io.BytesIO(content), "sha256", len(content)) == "sha256:" + hashlib.sha256(content).hexdigest()
    blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    assert digest_of(io.BytesIO(content), "git-sha1", len(content)) == "git-sha1:" + blob


def test_the_git_blob_id_of_a_known_content() -> None:
    # `printf 'hello\n' | git hash-object --stdin`
    digest = digest_of(io.BytesIO(b"hello\n"), "git-sha1", 6)
    assert digest == "git-sha1:ce013625030ba8dba906f756967f9e9ca394464a"
    assert is_digest(digest)
    assert not is_digest("sha256:abc")


def test_a_receipt_covers_the_file_until_anything_about_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"1234")
    receipt = load_receipts(dump_receipts({"f": receipt_for(file.stat(), DIGEST, 40 * "c")}))["f"]
    assert receipt.covers(file.stat(), 4, DIGEST)
    assert not receipt.covers(file.stat(), 5, DIGEST)
    assert not receipt.covers(file.stat(), 4, "sha256:" + 64 * "b")
    os.utime(file, ns=(0, receipt.mtime_ns + 1))
    assert not receipt.covers(file.stat(), 4, DIGEST)
    twin = tmp_path / "g"
    twin.write_bytes(b"1234")
    os.utime(twin, ns=(0, receipt.mtime_ns))
    assert not receipt.covers(twin.stat(), 4, DIGEST)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"f": 1}', '{"f": {"size": "4"}}', '{"f": {"size": true}}'])
def test_damaged_receipts_are_no_receipts(text: str) -> None:
    assert load_receipts(text) == {}
