# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The structure of a safetensors file: what its header promises, checked without loading a tensor.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.disguise import (
    LOOK_BYTES,
    ReadAt,
    instead_of_header,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.findings import Defects
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.header import Header, parse

# The reference reader's own limit: a longer header is HeaderTooLarge there.
MAX_HEADER_BYTES = 100_000_000
SUFFIX = ".safetensors"
# Most headers fit, so that one read brings length and header.
FIRST_READ_BYTES = 256 * 1024


class SafetensorsError(Exception):
    """One defect as a sentence without the file's name, which the caller knows."""


@dataclass
class Examination:
    """*header* is None where there is none to speak of; then *defects* says why."""

    header: Header | None = None
    defects: Defects = field(default_factory=Defects)

    @property
    def warnings(self) -> tuple[str, ...]:
        return self.header.warnings if self.header else ()


def examine(read_at: ReadAt, file_bytes: int) -> Examination:
    """Judge a file of *file_bytes*, read through *read_at(offset, length)*; only its header is read."""
    found = Examination()
    raw = _raw_header(read_at, file_bytes, found.defects)
    if raw is None:
        return found
    found.header = parse(raw, found.defects)
    if found.header:
        _check_size(found.header, file_bytes, found.defects)
    return found


def read_header(read_at: ReadAt, file_bytes: int) -> Header:
    """The header of a file without any defect; raises SafetensorsError with the first one otherwise."""
    found = examine(read_at, file_bytes)
    for defect in found.defects:
        raise SafetensorsError(defect.message)
    if found.header is None:
        raise AssertionError("a file without a header has a defect")
    return found.header


def _raw_header(read_at: ReadAt, file_bytes: int, defects: Defects) -> bytes | None:
    if file_bytes < 8:
        defects.add("truncated", f"it is {file_bytes} bytes long, shorter than the length of its header alone", byte=0)
        return None
    start = read_at(0, min(file_bytes, FIRST_READ_BYTES))
    length = int.from_bytes(start[:8], "little")
    if length > MAX_HEADER_BYTES:
        defects.add("disguise", instead_of_header(start[:LOOK_BYTES], length, MAX_HEADER_BYTES), byte=0)
        return None
    if 8 + length > file_bytes:
        text = f"it ends inside its header: the header takes {length} bytes, the whole file has {file_bytes}"
        defects.add("truncated", text, byte=file_bytes)
        return None
    raw = start[8 : 8 + length]
    if len(raw) < length:
        raw += read_at(8 + len(raw), length - len(raw))
    if len(raw) < length:
        defects.add("truncated", f"it became shorter while it was read: byte {8 + len(raw)} is gone", byte=8 + len(raw))
        return None
    return raw


def _check_size(header: Header, file_bytes: int, defects: Defects) -> None:
    """The law of sizes: 8 bytes, the header, the data, and nothing else."""
    expected = header.data_begin + header.data_bytes
    if file_bytes > expected:
        extra = f"it has bytes behind its last tensor: it ends at byte {expected}, the file has {file_bytes}"
        defects.add("trailing", extra, byte=expected)
    if file_bytes < expected:
        cut = [entry for entry in header.entries if header.data_begin + entry.end > file_bytes]
        defects.add(
            "truncated",
            f"it is cut off at byte {file_bytes}: its header describes {expected} bytes, so {expected - file_bytes} are "
            f"missing, of {len(cut)} tensors, the first of them {cut[0].name!r}",
            cut[0].name,
            file_bytes,
        )
