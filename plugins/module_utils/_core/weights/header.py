# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON header of a safetensors file: names, types, shapes, and where the data of each tensor lies.

Format: https://github.com/huggingface/safetensors#format. Stricter than the reference reader where the format
says so (duplicate names are defects), as lenient where it is legitimate (white space around the JSON is worth a
warning).

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.findings import Defects

# The reference reader's enum Dtype (safetensors 0.8.0, tensor.rs).
DTYPE_BITS = {
    "BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
    "C64": 64, "F64": 64, "I64": 64, "U64": 64,
}  # fmt: skip
METADATA = "__metadata__"
_FIELDS = frozenset(("dtype", "shape", "data_offsets"))
_WHITE_SPACE = b" \t\n\r"
# No size has so many digits. An old Python takes minutes to convert a million of them; newer ones refuse.
_LONG_NUMBER = re.compile(rb"[0-9]{25}")


class Tensor(NamedTuple):
    """*begin* and *end* count from the start of the data, as the header does; sorts by the place of the data."""

    begin: int
    end: int
    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Header:
    """*entries* in the order of their data; *data_bytes* is what they take behind *header_bytes* of JSON."""

    entries: tuple[Tensor, ...]
    metadata: dict[str, str]
    data_bytes: int
    header_bytes: int
    warnings: tuple[str, ...] = field(default=())

    @property
    def tensors(self) -> tuple[str, ...]:
        return tuple(entry.name for entry in self.entries)

    @property
    def data_begin(self) -> int:
        """The byte of the file at which the data begins."""
        return 8 + self.header_bytes


def parse(raw: bytes, defects: Defects) -> Header | None:
    """Judge the header alone; None where it is not even a table of tensors. What is wrong goes to *defects*."""
    pairs = _load(raw, defects)
    if pairs is None:
        return None
    data_begin = 8 + len(raw)
    metadata: dict[str, str] = {}
    entries: list[Tensor] = []
    seen: set[str] = set()
    for name, value in pairs:
        if name in seen:
            defects.add("duplicate", f"its header names {name!r} twice", name)
        elif name == METADATA:
            metadata = _metadata(value, defects)
        else:
            tensor = _plain(name, value) or _tensor(name, value, defects, data_begin)
            if tensor is not None:
                entries.append(tensor)
        seen.add(name)
    entries.sort()
    data_bytes = _check_layout(entries, defects, data_begin)
    return Header(tuple(entries), metadata, data_bytes, len(raw), tuple(_warnings(raw, entries)))


def _load(raw: bytes, defects: Defects) -> Any:
    """The header as pairs of names and values; objects become tuples, which keep duplicates, arrays are lists."""
    if not raw.strip(b"\0"):
        defects.add("zeros", "its header is all zeros: space was reserved for it but never filled", byte=0)
        return None
    guarded = hasattr(sys, "set_int_max_str_digits")
    numbers: dict[str, Any] = {} if guarded or not _LONG_NUMBER.search(raw) else {"parse_int": _parse_short_int}
    try:
        pairs = json.loads(raw.decode("utf-8"), object_pairs_hook=tuple, parse_constant=_no_constant, **numbers)
    except UnicodeDecodeError as error:
        defects.add("header", f"its header is not UTF-8: byte {8 + error.start} is wrong", byte=8 + error.start)
    except RecursionError:
        defects.add("header", "its header is not valid JSON: nested too deeply", byte=8)
    except json.JSONDecodeError as error:
        byte = 8 + len(error.doc[: error.pos].encode("utf-8"))
        defects.add("header", f"its header is not valid JSON: {error.msg} at byte {byte} of the file", byte=byte)
    except ValueError as error:
        defects.add("header", f"its header is not valid JSON: {error}", byte=8)
    else:
        # {} and [] are both falsy, and only an object becomes a tuple.
        if isinstance(pairs, tuple):
            return pairs
        defects.add("header", "its header is JSON but not an object", byte=8)
    return None


def _plain(name: str, value: Any) -> Tensor | None:
    """A tensor as all writers write it, judged in one pass: a model has 100,000. None leaves it to _tensor()."""
    if not isinstance(value, tuple) or len(value) != 3 or not name.isascii():
        return None
    (first, dtype), (second, shape), (third, offsets) = value
    if first != "dtype" or second != "shape" or third != "data_offsets":
        return None
    if not (isinstance(dtype, str) and isinstance(shape, list) and isinstance(offsets, list) and len(offsets) == 2):
        return None
    begin, end = offsets
    bits = DTYPE_BITS.get(dtype, 0)
    # Not isinstance(): JSON's true and false are numbers to it.
    for size in shape:
        if size.__class__ is not int or size >> 63:  # also true for a negative one
            return None
        bits *= size
    sound = dtype in DTYPE_BITS and not bits >> 63 and not bits & 7 and begin.__class__ is int and end.__class__ is int
    if not sound or begin < 0 or end >> 63 or end - begin != bits >> 3:
        return None
    return Tensor(begin, end, name, dtype, tuple(shape))


def _tensor(name: str, value: Any, defects: Defects, data_begin: int) -> Tensor | None:
    """One entry of the header, checked on its own; None where it is not even the description of a tensor."""
    problem = None
    if not name.isascii() and not _is_unicode(name):
        problem = "has a name that is not valid Unicode"
    elif not isinstance(value, tuple):
        problem = f"is described by {_shown(value)}, not by an object"
    else:
        fields = dict(value)
        problem = _problem(fields, len(value))
    if problem:
        defects.add("header", f"tensor {name!r} {problem}", name)
        return None
    begin, end = fields["data_offsets"]
    tensor = Tensor(begin, end, name, fields["dtype"], tuple(fields["shape"]))
    problem = _wrong_size(tensor)
    if problem:
        about = f"tensor {name!r} of shape {_shown(fields['shape'])} and type {tensor.dtype}"
        defects.add("shape", f"{about} {problem}", name, data_begin + begin)
        # Its place still counts for the layout, so that its neighbours are not blamed for it.
    return tensor


def _problem(fields: dict[str, Any], keys: int) -> str | None:
    """What keeps *fields*, described with so many *keys*, from being a type, a shape and two offsets."""
    dtype: Any = fields.get("dtype")
    shape: Any = fields.get("shape")
    offsets: Any = fields.get("data_offsets")
    if len(fields) != keys:
        return "is described with the same key twice"
    if not fields.keys() >= _FIELDS:
        return f"has no {' and no '.join(sorted(_FIELDS - fields.keys()))}"
    if not isinstance(dtype, str) or dtype not in DTYPE_BITS:
        return f"has the unknown data type {_shown(dtype)}: damage, or a format newer than safetensors 0.8"
    if not _are_sizes(shape):
        return f"has the shape {_shown(shape)}, which is not a list of sizes"
    if not _are_sizes(offsets) or len(offsets) != 2 or offsets[1] < offsets[0]:
        return f"has the data_offsets {_shown(offsets)}, which are not a begin and an end"
    return None


def _wrong_size(tensor: Tensor) -> str | None:
    """Whether type and shape need another number of bytes than the offsets give."""
    elements = 1
    for size in tensor.shape:
        elements *= size
        if elements >> 64:
            return "has a size that overflows 64 bits"
    bits = elements * DTYPE_BITS[tensor.dtype]
    if bits >> 64:
        return "has a size that overflows 64 bits"
    if bits % 8:
        return "does not fill whole bytes"
    if tensor.end - tensor.begin != bits // 8:
        return f"needs {bits // 8} bytes; its data_offsets give it {tensor.end - tensor.begin}"
    return None


def _check_layout(entries: list[Tensor], defects: Defects, data_begin: int) -> int:
    """Tensors follow each other without a hole or an overlap; returns where the last one ends."""
    reached, before = 0, ""
    for begin, end, name, _dtype, _shape in entries:
        if begin != reached:
            after = f"the end of {before!r}" if before else "the start of the data"
            if begin > reached:
                what = "leaves a hole before it"
            else:
                what = "overlaps the tensor before it"
            text = (
                f"tensor {name!r} {what}: it begins at byte {data_begin + begin}, {after} is at {data_begin + reached}"
            )
            defects.add("layout", text, name, data_begin + begin)
        if end >= reached:
            reached, before = end, name
    return reached


def _warnings(raw: bytes, entries: list[Tensor]) -> list[str]:
    """What readers accept although the format says otherwise, or at a price."""
    found = []
    if raw[:1] != b"{" and raw.lstrip(_WHITE_SPACE)[:1] == b"{":
        found.append("its header begins with white space; the format asks for '{', readers accept both")
    crooked = [entry for entry in entries if entry[0] * 8 % DTYPE_BITS[entry[3]]]
    if crooked:
        found.append(
            f"tensor {crooked[0].name!r}{_more(len(crooked))} is not aligned to its type {crooked[0].dtype}: "
            "readers copy it instead of mapping it"
        )
    elif len(raw) % 8 and entries:
        found.append(f"its header takes {len(raw)} bytes, not a multiple of 8: readers copy instead of mapping")
    return found


def _metadata(value: Any, defects: Defects) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, tuple) or not all(isinstance(content, str) for _name, content in value):
        defects.add("metadata", f"its {METADATA} does not map strings to strings")
        return {}
    metadata = dict(value)
    if len(metadata) != len(value):
        defects.add("duplicate", f"its {METADATA} names the same key twice")
    return metadata


def _are_sizes(value: Any) -> bool:
    """A list of unsigned 64-bit numbers; JSON's true and false are numbers to Python alone."""
    return isinstance(value, list) and all(size.__class__ is int and 0 <= size < 1 << 64 for size in value)


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shown(value: Any) -> str:
    """A value of the header for people, not longer than a line and with objects as JSON writes them."""
    text = "an object" if isinstance(value, tuple) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _more(count: int) -> str:
    return f" (and {count - 1} more)" if count > 1 else ""


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is not JSON")


def _parse_short_int(text: str) -> int:
    return int(text) if len(text) < 25 else 1 << 80  # too long for a size in any case
