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
    read_header,
)
from hypothesis import given
from hypothesis import strategies as st

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
        (struct.pack("<Q", 100) + b"{}", "it ends inside its header"),
        (64 * b"\0", "its header is all zeros"),
        (build(None, raw=b"\xff"), "its header is not UTF-8"),
        (build(None, raw=b"{"), "its header is not valid JSON"),
        (build(None, raw=b"[]"), "its header is JSON but not an object"),
        (build(None, raw=b"[" * 100_000), "its header is not valid JSON"),
        (build(None, raw=b"{}\0\0"), "its header is not valid JSON"),
        (build(None, raw=b'{"t":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}'), "NaN is not JSON"),
        (build(None, raw=b'{"t":1,"t":2}'), "its header names 't' twice"),
        (build({"__metadata__": {"a": 1}}), "its __metadata__ does not map strings to strings"),
        (build({"t": 5}), "tensor 't' is described by int"),
        (build({"t": tensor("I33", [1], 0, 4)}), "tensor 't' has the unknown data type 'I33'"),
        (build({"t": tensor("I32", [-1], 0, 4)}), "tensor 't' has the shape [-1]"),
        (build({"t": dict(MATRIX, shape=[2.0, 2])}), "tensor 't' has the shape [2.0, 2]"),
        (build({"t": dict(MATRIX, shape=[True])}), "tensor 't' has the shape [True]"),
        (build({"t": tensor("I32", [1], 4, 0)}), "tensor 't' has the data_offsets [4, 0]"),
        (build({"t": dict(MATRIX, data_offsets=[0, 12])}), "tensor 't' of shape [2, 2] and type I32 needs 16 bytes"),
        (build({"t": tensor("F4", [3], 0, 2)}), "does not fill whole bytes"),
        (build({"t": tensor("I32", [2, 2**64 - 2], 0, 16)}), "overflows 64 bits"),
        (build({"t": tensor("I8", [1], 1, 2)}), "tensor 't' leaves a hole before it"),
        (build({"a": tensor("I8", [2], 0, 2), "b": tensor("I8", [2], 1, 3)}), "tensor 'b' overlaps the tensor before"),
        (build({"t": MATRIX}, 15 * b"\0"), "it is cut off: its header describes"),
        (build({"t": MATRIX}, 17 * b"\0"), "it has bytes behind its last tensor"),
    ],
)
def test_each_defect_has_its_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(SafetensorsError) as error:
        judge(content)
    assert sentence in str(error.value)


@given(st.binary(max_size=200))
def test_any_bytes_are_judged_and_nothing_else_is_raised(content: bytes) -> None:
    try:
        judge(content)
    except SafetensorsError as error:
        assert str(error)


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
