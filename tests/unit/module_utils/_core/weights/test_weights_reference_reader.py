# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference reader and ours agree about every file, but for the names in DELIBERATE."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.safetensors import (
    SafetensorsError,
    read_header,
)
from hypothesis import given
from hypothesis import strategies as st

safetensors = pytest.importorskip("safetensors", reason="the reference reader is not installed")

ENTRY = b'{"dtype":"I32","shape":[2,2],"data_offsets":[0,16]}'
DATA = 16 * b"\0"


def build(raw: bytes, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(raw)) + raw + data


def one(dtype: Any, shape: Any, begin: Any, end: Any, data: int = 0) -> bytes:
    return build(
        json.dumps({"t": {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}}).encode(), data * b"\0"
    )


def ours(content: bytes) -> bool:
    try:
        read_header(lambda offset, length: content[offset : offset + length], len(content))
    except SafetensorsError:
        return False
    return True


def theirs(content: bytes) -> bool:
    try:
        safetensors.deserialize(content)
    except safetensors.SafetensorError:
        return False
    return True


TABLE = {
    "empty file": b"",
    "seven bytes": b"1234567",
    "no tensors": build(b"{}"),
    "one tensor": build(b'{"t":' + ENTRY + b"}", DATA),
    "metadata": build(b'{"__metadata__":{"format":"pt"},"t":' + ENTRY + b"}", DATA),
    "null metadata": build(b'{"__metadata__":null,"t":' + ENTRY + b"}", DATA),
    "number in metadata": build(b'{"__metadata__":{"a":1},"t":' + ENTRY + b"}", DATA),
    "unknown key in an entry": build(b'{"t":' + ENTRY[:-1] + b',"x":1}}', DATA),
    "white space around": build(b"  {} \n"),
    "NUL padding": build(b"{}\0\0"),
    "byte order mark": build(b"\xef\xbb\xbf{}"),
    "not UTF-8": build(b"\xff"),
    "open brace": build(b"{"),
    "array": build(b"[]"),
    "all zeros": 64 * b"\0",
    "Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    "web page": b"<!DOCTYPE html><html>Sign in</html>",
    "error text": b"Entry not found",
    "header of 100 MB and one": struct.pack("<Q", 100_000_001) + b"{}",
    "cut inside the header": struct.pack("<Q", 100) + b"{}",
    "one byte short": build(b'{"t":' + ENTRY + b"}", DATA[1:]),
    "one byte more": build(b'{"t":' + ENTRY + b"}", DATA + b"\0"),
    "hole at the start": one("U8", [1], 1, 2, 2),
    "shape and offsets differ": one("I32", [2, 2], 0, 12, 12),
    "offsets backwards": one("U8", [1], 1, 0, 1),
    "negative shape": one("U8", [-1], 0, 1, 1),
    "float shape": one("U8", [1.0], 0, 1, 1),
    "unknown type": one("I33", [1], 0, 4, 4),
    "scalar": one("F32", [], 0, 4, 4),
    "empty dimension": one("F32", [0, 7], 0, 0),
    "half a byte": one("F4", [3], 0, 2, 2),
    "two F4 to a byte": one("F4", [4], 0, 2, 2),
    "four F6 to three bytes": one("F6_E2M3", [4], 0, 3, 3),
    "F6 across a byte": one("F6_E3M2", [3], 0, 3, 3),
    "overflow": one("U8", [2, 2**64 - 2], 0, 16, 16),
    "overflow before a zero": one("U8", [2**63, 4, 0], 0, 0),
    "size of 2^63 elements and a zero": one("F64", [2**63, 0], 0, 0),
    "overlap": build(
        b'{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}',
        3 * b"\0",
    ),
    "any order in the JSON": build(
        b'{"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}',
        4 * b"\0",
    ),
    "the same field twice": build(b'{"t":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"\0"),
    "the same tensor twice": build(b'{"t":' + ENTRY + b',"t":' + ENTRY + b"}", DATA),
    "the same metadata twice": build(b'{"__metadata__":{"a":"1","a":"2"}}'),
}  # fmt: skip
# The format disallows duplicate keys; the reader takes the last one, which lets one file mean two things.
DELIBERATE = {"the same tensor twice", "the same metadata twice"}


@pytest.mark.parametrize("name", TABLE)
def test_the_reference_reader_agrees(name: str) -> None:
    assert theirs(TABLE[name]) == (ours(TABLE[name]) or name in DELIBERATE)
    if name in DELIBERATE:
        assert not ours(TABLE[name])


@pytest.mark.parametrize(
    "dtype",
    ["BOOL", "F4", "F6_E2M3", "F6_E3M2", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16",
     "U16", "F16", "BF16", "I32", "U32", "F32", "C64", "F64", "I64", "U64"],
)  # fmt: skip
def test_every_type_has_the_same_size(dtype: str) -> None:
    accepted = [size for size in range(1, 65) if theirs(one(dtype, [8], 0, size, size))]
    assert len(accepted) == 1
    assert ours(one(dtype, [8], 0, accepted[0], accepted[0]))


@given(
    st.lists(
        st.tuples(st.sampled_from(["U8", "F4", "BF16"]), st.lists(st.integers(0, 4), max_size=2), st.integers(-1, 1)),
        max_size=4,
    ),
    st.integers(-1, 1),
)
def test_the_reference_reader_agrees_about_layouts(tensors: list[tuple[str, list[int], int]], off: int) -> None:
    header, end = {}, 0
    for number, (dtype, shape, shift) in enumerate(tensors):
        size = 1
        for dimension in shape:
            size *= dimension
        begin = max(0, end + shift * (number % 2))
        end = begin + (size * {"U8": 8, "F4": 4, "BF16": 16}[dtype] + 7) // 8
        header[str(number)] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    content = build(json.dumps(header).encode(), max(0, end + off) * b"\0")
    assert ours(content) == theirs(content)
