# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A safetensors file is judged by its header alone, with a sentence for every way it can be wrong."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.safetensors import (
    MAX_HEADER_BYTES,
    SafetensorsError,
    examine,
    read_header,
)
from hypothesis import given
from hypothesis import strategies as st

ENTRY = b'{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}'
MATRIX = {"dtype": "I32", "shape": [2, 2], "data_offsets": [0, 16]}


def build(header: Any, data: bytes = b"", raw: bytes | None = None) -> bytes:
    text = raw if raw is not None else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def judge(content: bytes) -> Any:
    return read_header(lambda offset, length: content[offset : offset + length], len(content))


def tensor(dtype: str, shape: list[int], begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def test_a_good_file_tells_its_tensors_in_the_order_of_their_data() -> None:
    header = judge(build({"b": tensor("F32", [1], 16, 20), "a": MATRIX, "__metadata__": {"format": "pt"}}, 20 * b"\0"))
    assert (header.tensors, header.data_bytes) == (("a", "b"), 20)


@pytest.mark.parametrize(
    "content",
    [
        build({}),
        build({"t": MATRIX, "__metadata__": None}, 16 * b"\0"),
        build({"t": dict(MATRIX, extra="ignored")}, 16 * b"\0"),
        build(None, 16 * b"\0", raw=b"  " + json.dumps({"t": MATRIX}).encode() + b"   "),
        build({"scalar": tensor("F32", [], 0, 4), "empty": tensor("F32", [0, 7], 4, 4)}, 4 * b"\0"),
        build({"t": tensor("F4", [4], 0, 2)}, 2 * b"\0"),
        build({"t": tensor("F8_E8M0", [3], 0, 3)}, 3 * b"\0"),
    ],
)
def test_what_the_format_allows_is_accepted(content: bytes) -> None:
    judge(content)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "it is 0 bytes long"),
        (b"1234567", "it is 7 bytes long"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "it is a Git LFS pointer"),
        (b"<!DOCTYPE html><html>Sign in</html>", "it is a web page"),
        (b"Entry not found", "it is an error message saved in place of the weights: 'Entry not found'"),
        (b'{"error":"Repository not found"}', "it is an error message"),
        (struct.pack("<Q", MAX_HEADER_BYTES + 1) + b"{}", "its first 8 bytes give a header of 100000001 bytes"),
        (struct.pack("<Q", MAX_HEADER_BYTES) + b"{}", "it ends inside its header"),  # the longest that is allowed
        (struct.pack("<Q", 100) + b"{}", "it ends inside its header"),
        (64 * b"\0", "its header is all zeros"),
        (build(None, raw=b"\xff"), "its header is not UTF-8"),
        (build(None, raw=b"{"), "its header is not valid JSON"),
        (build(None, raw=b"[]"), "its header is JSON but not an object"),
        (build(None, raw=b"[" * 100_000), "its header is not valid JSON"),
        (build(None, raw=b"{}\0\0"), "its header is not valid JSON"),
        (build(None, raw=b'{"t":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}'), "NaN is not JSON"),
        (build(None, raw=b'{"t":' + ENTRY + b',"t":' + ENTRY + b"}", data=16 * b"\0"), "its header names 't' twice"),
        (build({"__metadata__": {"a": 1}}), "its __metadata__ does not map strings to strings"),
        (build({"t": 5}), "tensor 't' is described by 5, not by an object"),
        (build({"t": tensor("I33", [1], 0, 4)}), "tensor 't' has the unknown data type 'I33'"),
        (build({"t": tensor("I32", [-1], 0, 4)}), "tensor 't' has the shape [-1]"),
        (build({"t": dict(MATRIX, shape=[2.0, 2])}), "tensor 't' has the shape [2.0, 2]"),
        (build({"t": dict(MATRIX, shape=[True])}), "tensor 't' has the shape [True]"),
        (build({"t": tensor("I32", [1], 4, 0)}), "tensor 't' has the data_offsets [4, 0]"),
        (build({"t": tensor("I32", [1], -4, 0)}), "tensor 't' has the data_offsets [-4, 0]"),
        (build({"t": dict(MATRIX, data_offsets=[0, 12])}), "tensor 't' of shape [2, 2] and type I32 needs 16 bytes"),
        (build({"t": tensor("F4", [3], 0, 2)}), "does not fill whole bytes"),
        (build({"t": tensor("I32", [2, 2**64 - 2], 0, 16)}), "overflows 64 bits"),
        (build({"t": tensor("I8", [1], 1, 2)}), "tensor 't' leaves a hole before it"),
        (build({"a": tensor("I8", [2], 0, 2), "b": tensor("I8", [2], 1, 3)}), "tensor 'b' overlaps the tensor before"),
        (
            build({"t": MATRIX}, 15 * b"\0"),
            "it is cut off at byte 88: its header describes 89 bytes, so 1 are missing, of 1 tensors, the first of them 't'",
        ),
        (build({"t": MATRIX}, 17 * b"\0"), "it has bytes behind its last tensor"),
    ],
)
def test_each_defect_has_its_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(SafetensorsError) as error:
        judge(content)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK\x03\x04" + 60 * b"z", "it is a zip archive"),
        (b"\x1f\x8b\x08" + 60 * b"\xff", "it is compressed with gzip"),
        (b"GGUF" + 60 * b"\xff", "it is a GGUF file"),
        (b"\r\n <HTML><body>", "it is a web page"),
        (build(None, raw=b"\xef\xbb\xbf{}"), "its header is not valid JSON"),
        (build(None, raw=b'{"a\\ud800":' + ENTRY + b"}", data=16 * b"\0"), "has a name that is not valid Unicode"),
        (
            build(None, raw=b'{"t":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}}', data=b"\0"),
            "same key twice",
        ),
        (build(None, raw=b'{"__metadata__":{"a":"1","a":"2"}}'), "__metadata__ names the same key twice"),
        (build({"t": {"dtype": "U8"}}), "tensor 't' has no data_offsets and no shape"),
        (build({"t": tensor("F9", [1], 0, 1)}, b"\0"), "damage, or a format newer than safetensors 0.8"),
        (build({"t": tensor("U8", [2**64], 0, 1)}, b"\0"), "which is not a list of sizes"),
        (build(None, raw=b'{"t":{"dtype":"U8","shape":[' + 9999 * b"9" + b'],"data_offsets":[0,1]}}'), "tensor 't'"),
    ],
)
def test_more_disguises_and_twins_are_named(content: bytes, sentence: str) -> None:
    defects = list(examine(lambda offset, length: content[offset : offset + length], len(content)).defects)
    assert sentence in defects[0].message or "not valid JSON: Exceeds" in defects[0].message


def test_every_defect_of_a_file_is_told_with_tensor_and_byte() -> None:
    """The shard of vmlx-swift PR 217 ends before its last tensors begin; here it is wrong in two more ways."""
    header = {
        "a": tensor("U8", [4], 0, 4), "b": tensor("U8", [4], 6, 10), "c": tensor("U8", [9], 10, 14), "d": tensor("U8", [2], 14, 16),
    }  # fmt: skip
    content = build(header, 12 * b"\0")
    begin = len(content) - 12
    found = examine(lambda offset, length: content[offset : offset + length], len(content))
    assert [(defect.kind, defect.tensor, defect.byte) for defect in found.defects] == [
        ("shape", "c", begin + 10),
        ("layout", "b", begin + 6),
        ("truncated", "c", len(content)),
    ]
    assert "4 are missing, of 2 tensors, the first of them 'c'" in list(found.defects)[-1].message


def test_a_header_full_of_defects_is_counted_and_not_listed() -> None:
    content = build({str(number): 1 for number in range(1000)})
    found = examine(lambda offset, length: content[offset : offset + length], len(content))
    assert (found.defects.total, len(list(found.defects))) == (1000, 10)


@pytest.mark.parametrize(
    ("content", "warning"),
    [
        (build(None, b"", raw=b"  {}    "), "its header begins with white space"),
        (build(None, 16 * b"\0", raw=b'{"t":' + ENTRY + b"} "), "not a multiple of 8"),
        (build({"a": tensor("U8", [1], 0, 1), "b": tensor("F32", [1], 1, 5)}, 5 * b"\0"), "tensor 'b' is not aligned"),
    ],
)
def test_what_readers_accept_against_the_format_is_a_warning(content: bytes, warning: str) -> None:
    header = judge(content)
    assert any(warning in text for text in header.warnings)


def test_a_header_larger_than_the_first_read_is_read_in_full() -> None:
    names = [f"{number:09d}" for number in range(6000)]
    content = build({name: tensor("U8", [1], place, place + 1) for place, name in enumerate(names)}, 6000 * b"\0")
    assert judge(content).tensors == tuple(names)


@given(st.binary(max_size=200))
def test_any_bytes_are_judged_and_nothing_else_is_raised(content: bytes) -> None:
    try:
        judge(content)
    except SafetensorsError as error:
        assert str(error)


@given(st.binary(max_size=60))
def test_bytes_that_are_no_file_always_have_a_defect_or_a_header(content: bytes) -> None:
    raw = struct.pack("<Q", len(content)) + content
    found = examine(lambda offset, length: raw[offset : offset + length], len(raw))
    assert found.header is not None or found.defects.total > 0


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
DESCRIPTIONS = st.dictionaries(
    st.sampled_from(["dtype", "shape", "data_offsets", "other"]), VALUES | st.lists(VALUES, max_size=3), max_size=4
)


@given(VALUES | DESCRIPTIONS)
def test_any_json_header_is_judged_and_nothing_else_is_raised(header: Any) -> None:
    try:
        judge(build({"t": header}))
    except SafetensorsError as error:
        assert str(error)


@given(st.lists(st.integers(min_value=0, max_value=50), max_size=8), st.integers(min_value=1, max_value=30))
def test_one_missing_byte_is_always_found(sizes: list[int], more: int) -> None:
    header, end = {}, 0
    for number, size in enumerate([*sizes, more]):
        header[str(number)] = tensor("U8", [size], end, end + size)
        end += size
    judge(build(header, end * b"\0"))
    with pytest.raises(SafetensorsError, match="cut off"):
        judge(build(header, (end - 1) * b"\0"))
