# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The structure of a safetensors file: what its header promises, checked without loading a tensor.

Format: https://github.com/huggingface/safetensors#format. Stricter than the reference reader where the format
says so (duplicate names are refused), as lenient where it is legitimate (white space around the JSON).

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Callable

# The reference reader's own limit: a longer header is HeaderTooLarge there.
MAX_HEADER_BYTES = 100_000_000
LFS_POINTER_START = b"version https://git-lfs.github.com/spec/v1"

DTYPE_BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip


class SafetensorsError(Exception):
    """One defect as a sentence without the file's name, which the caller knows."""


@dataclass(frozen=True)
class Header:
    """*tensors* in the order of their data; *data_bytes* is what they take behind the header."""

    tensors: tuple[str, ...]
    data_bytes: int
    header_bytes: int


def read_header(read_at: Callable[[int, int], bytes], file_bytes: int) -> Header:
    """Check the structure of a file of *file_bytes*, read through *read_at(offset, length)*.

    Raises SafetensorsError with the first defect.
    """
    if file_bytes < 8:
        raise SafetensorsError(f"it is {file_bytes} bytes long, shorter than the length of its header alone")
    start = read_at(0, 8)
    length = int.from_bytes(start, "little")
    if length > MAX_HEADER_BYTES:
        raise SafetensorsError(_not_safetensors(read_at(0, min(file_bytes, 200)), length))
    if 8 + length > file_bytes:
        raise SafetensorsError(
            f"it ends inside its header: the header takes {length} bytes, the whole file has {file_bytes}"
        )
    header = parse_header(read_at(8, length))
    expected = 8 + length + header.data_bytes
    if expected != file_bytes:
        what = "is cut off" if file_bytes < expected else "has bytes behind its last tensor"
        raise SafetensorsError(f"it {what}: its header describes {expected} bytes, the file has {file_bytes}")
    return header


def parse_header(raw: bytes) -> Header:
    """Check the JSON header alone: names, types, shapes, and that the data has neither hole nor overlap."""
    if not raw.strip(b"\0"):
        raise SafetensorsError("its header is all zeros: space was reserved for it but never filled")
    try:
        entries = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except UnicodeDecodeError:
        raise SafetensorsError("its header is not UTF-8") from None
    except RecursionError:
        raise SafetensorsError("its header is not valid JSON: nested too deeply") from None
    except ValueError as error:
        raise SafetensorsError(f"its header is not valid JSON: {error}") from None
    if not isinstance(entries, dict):
        raise SafetensorsError("its header is JSON but not an object")
    _check_metadata(entries.pop("__metadata__", None))
    spans = sorted((_span(name, entry) for name, entry in entries.items()), key=lambda span: span[:2])
    end = 0
    for begin, stop, name in spans:
        if begin != end:
            what = "overlaps the tensor before it" if begin < end else "leaves a hole before it"
            raise SafetensorsError(f"tensor {name!r} {what}: it begins at byte {begin} of the data, not at {end}")
        end = stop
    return Header(tuple(name for _begin, _stop, name in spans), end, len(raw))


def _span(name: str, entry: Any) -> tuple[int, int, str]:
    """Where the data of one tensor begins and ends, after checking that its shape agrees."""
    if not isinstance(entry, dict):
        raise SafetensorsError(f"tensor {name!r} is described by {type(entry).__name__}, not by an object")
    dtype: Any = entry.get("dtype")
    shape: Any = entry.get("shape")
    offsets: Any = entry.get("data_offsets")
    bits = DTYPE_BITS.get(dtype) if isinstance(dtype, str) else None
    if bits is None:
        raise SafetensorsError(f"tensor {name!r} has the unknown data type {dtype!r}")
    if not _is_sizes(shape):
        raise SafetensorsError(f"tensor {name!r} has the shape {shape!r}, which is not a list of sizes")
    if not _is_sizes(offsets) or len(offsets) != 2 or offsets[1] < offsets[0]:
        raise SafetensorsError(f"tensor {name!r} has the data_offsets {offsets!r}, which are not a begin and an end")
    for size in shape:
        bits *= size
        if bits >= 1 << 64:
            raise SafetensorsError(f"tensor {name!r} has a shape whose size overflows 64 bits")
    if bits % 8:
        raise SafetensorsError(f"tensor {name!r} of shape {shape!r} and type {dtype} does not fill whole bytes")
    if offsets[1] - offsets[0] != bits // 8:
        raise SafetensorsError(
            f"tensor {name!r} of shape {shape!r} and type {dtype} needs {bits // 8} bytes; "
            f"its data_offsets give it {offsets[1] - offsets[0]}"
        )
    return offsets[0], offsets[1], name


def _is_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_size, value))


def _is_size(value: Any) -> bool:
    """An unsigned 64-bit number; JSON's true and false are numbers to Python alone."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64


def _check_metadata(metadata: Any) -> None:
    if metadata is None:
        return
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise SafetensorsError("its __metadata__ does not map strings to strings")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, content in pairs:
        if name in value:
            raise SafetensorsError(f"its header names {name!r} twice")
        value[name] = content
    return value


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _not_safetensors(start: bytes, length: int) -> str:
    """What a file really is whose first eight bytes are no sensible header length."""
    text = start.lstrip().lower()
    if start.startswith(LFS_POINTER_START):
        return "it is a Git LFS pointer, a text of some 130 bytes that stands for the weights, not the weights"
    if text.startswith((b"<html", b"<!doctype")):
        return "it is a web page, most likely a login or error page saved in place of the weights"
    if text.startswith((b'{"error', b"entry not found", b"invalid", b"access to model")):
        return f"it is an error message saved in place of the weights: {start[:80].decode('utf-8', 'replace')!r}"
    return f"its first 8 bytes give a header of {length} bytes, more than the {MAX_HEADER_BYTES} any reader accepts"
