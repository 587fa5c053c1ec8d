# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a file that were never written: they have the right size and read as zeros.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from typing import Iterable, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.findings import Defects
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.header import Header, Tensor

PAGE_BYTES = 4096
# Enough to meet an unwritten piece (aria2: 1 MiB and more) of a transfer that was cut off well before its end, and
# few enough to cost nothing: 64 shards are 4,096 reads of a page.
SAMPLES = 64
ENOUGH_SAMPLES = 8  # to judge by; a smaller file may well be zeros


def report_hole(begin: int, end: int, header: Header | None, defects: Defects) -> None:
    """A hole of the file system from byte *begin* to *end*, in a file where all bytes are expected to be data."""
    tensor = tensor_at(header, begin)
    where = f", tensor {tensor.name!r} first" if tensor else ""
    defects.add(
        "hole",
        f"bytes {begin} to {end} were never written and read as zeros{where}: "
        "the transfer did not finish, or a copy made zeros into holes; only its digest tells",
        tensor.name if tensor else None,
        begin,
    )


def tensor_at(header: Header | None, byte: int) -> Tensor | None:
    """The first tensor that has data at or behind *byte* of the file."""
    if header is None:
        return None
    for tensor in header.entries:
        if header.data_begin + tensor.end > byte and tensor.end > tensor.begin:
            return tensor
    return None


def sample_places(header: Header, count: int = SAMPLES) -> list[int]:
    """Where to look for pages of zeros: *count* whole pages over the data, its first and its last among them."""
    first = -(-header.data_begin // PAGE_BYTES) * PAGE_BYTES
    last = (header.data_begin + header.data_bytes) // PAGE_BYTES * PAGE_BYTES - PAGE_BYTES
    if last < first:
        return []
    pages = (last - first) // PAGE_BYTES
    steps = min(count - 1, pages)
    return [first + pages * step // steps * PAGE_BYTES for step in range(steps + 1)] if steps else [first]


def judge_samples(header: Header, places: Sequence[int], zeros: Iterable[int], defects: Defects) -> str | None:
    """What pages of nothing but zeros mean: a defect where they are half of the file up to its end, else a warning.

    Weights have single zeros, and models have tensors of zeros, also at their ends; no trained model has half a shard.
    """
    found = sorted(zeros)
    if not found:
        return None
    tail = 0
    while tail < len(found) and found[-1 - tail] == places[-1 - tail]:
        tail += 1
    begin = places[-tail] if tail > 1 else found[0]
    tensor = tensor_at(header, begin)
    name = tensor.name if tensor else None
    if len(places) >= ENOUGH_SAMPLES and 2 * tail >= len(places):
        which = f"all {tail}" if tail == len(places) else f"the last {tail} of {len(places)}"
        text = f"{which} pages looked at hold zeros, from about byte {begin} on: it was reserved and not filled; "
        defects.add("zeros", f"{text}where these zeros are meant, its digest tells", name, begin)
        return None
    if tail > 1:
        text = f"its end holds zeros, from about byte {begin} on"
    else:
        text = f"{len(found)} of {len(places)} pages looked at hold only zeros, the first at byte {begin}"
    return f"{text} (tensor {name!r}); an interrupted transfer leaves that, only its digest tells"
