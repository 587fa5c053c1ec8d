# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One file of a model, looked at without reading what is in its tensors.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from typing import Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.disguise import (
    LOOK_BYTES,
    broken_json,
    impostor,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.findings import Defects
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.header import Header
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.holes import (
    PAGE_BYTES,
    judge_samples,
    report_hole,
    sample_places,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.safetensors import SUFFIX, ReadAt, examine

_ZEROS = bytes(PAGE_BYTES)
# A hole is told with its place; a file that is full of them need not tell all.
MAX_HOLES = 3


@dataclass
class Look:
    """What is wrong with one file, and its header where it has one."""

    header: Header | None = None
    defects: Defects = field(default_factory=Defects)
    warnings: list[str] = field(default_factory=list)


def look_at(path: str, place: str, proven: bool = False) -> Look:
    """Judge the file *path* at *place*; what is *proven* by digest is not searched for holes and zeros: they are meant."""
    found = Look()
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        found.defects.add("unreadable", f"it cannot be opened: {error.strerror}")
        return found
    try:
        status = os.fstat(descriptor)
        size = status.st_size

        def read_at(offset: int, length: int) -> bytes:
            return os.pread(descriptor, length, offset)

        if path.endswith(SUFFIX):
            _look_at_weights(found, descriptor, read_at, status, proven)
        else:
            _look_at_text(found, path, read_at, size)
    except OSError as error:
        found.defects.add("unreadable", f"it cannot be read: {error.strerror}")
    finally:
        os.close(descriptor)
    return found


def _look_at_weights(found: Look, descriptor: int, read_at: ReadAt, status: os.stat_result, proven: bool) -> None:
    size = status.st_size
    examined = examine(read_at, size)
    found.header, found.defects = examined.header, examined.defects
    found.warnings.extend(examined.warnings)
    if proven:
        return
    holes = list(_holes(descriptor, size))
    for begin, end in holes:
        report_hole(begin, end, found.header, found.defects)
    if not holes and status.st_blocks * 512 < size // 2:
        # Where holes cannot be asked for, and on a file system that compresses.
        found.warnings.append(f"it takes {status.st_blocks * 512} bytes of the disk for {size} bytes of content")
    if holes or found.header is None or found.defects.total:
        return
    places = sample_places(found.header)
    zeros = [place for place in places if read_at(place, PAGE_BYTES) == _ZEROS]
    warning = judge_samples(found.header, places, zeros, found.defects)
    if warning:
        found.warnings.append(warning)


def _look_at_text(found: Look, path: str, read_at: ReadAt, size: int) -> None:
    sentence = impostor(path, read_at(0, LOOK_BYTES), size) or broken_json(path, read_at, size)
    if sentence:
        found.defects.add("disguise", sentence, byte=0)


def _holes(descriptor: int, size: int) -> Iterator[tuple[int, int]]:
    """The first holes, as the file system tells them; none where it cannot tell.

    A file system without holes answers that the first one is at the end of the file.
    """
    begin = 0
    for _hole in range(MAX_HOLES):
        try:
            begin = os.lseek(descriptor, begin, os.SEEK_HOLE)
        except OSError:  # EINVAL from a file system that does not know the question, ENXIO at the end
            return
        if begin >= size:
            return
        try:
            end = os.lseek(descriptor, begin, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                return
            end = size
        yield begin, end
        if end >= size:
            return
        begin = end
