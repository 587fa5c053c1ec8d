# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a set of safetensors files holds: how many tensors of which types, and how large.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import fnmatch
import heapq
from dataclasses import dataclass, field
from typing import Any, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.header import DTYPE_BITS, Header, Tensor

LARGEST = 5


@dataclass
class Summary:
    """Sums over headers. *parameters* counts elements as stored: eight 4-bit weights packed in an I32 are one."""

    tensors: int = 0
    parameters: int = 0
    bytes_by_dtype: dict[str, int] = field(default_factory=dict)
    tensors_by_dtype: dict[str, int] = field(default_factory=dict)
    tensors_by_rank: dict[str, int] = field(default_factory=dict)
    largest: list[Tensor] = field(default_factory=list)

    def add(self, header: Header) -> None:
        for tensor in header.entries:
            size = tensor.end - tensor.begin
            self.tensors += 1
            self.parameters += size * 8 // DTYPE_BITS[tensor.dtype]
            self.bytes_by_dtype[tensor.dtype] = self.bytes_by_dtype.get(tensor.dtype, 0) + size
            self.tensors_by_dtype[tensor.dtype] = self.tensors_by_dtype.get(tensor.dtype, 0) + 1
            rank = str(len(tensor.shape))
            self.tensors_by_rank[rank] = self.tensors_by_rank.get(rank, 0) + 1
        self.largest = heapq.nlargest(LARGEST, [*self.largest, *header.entries], key=_size)

    def public(self) -> dict[str, Any]:
        return {
            "tensors": self.tensors,
            "parameters": self.parameters,
            "bytes": sum(self.bytes_by_dtype.values()),
            "bytes_by_dtype": dict(sorted(self.bytes_by_dtype.items())),
            "tensors_by_dtype": dict(sorted(self.tensors_by_dtype.items())),
            "tensors_by_rank": dict(sorted(self.tensors_by_rank.items())),
            "largest": [describe(tensor) for tensor in self.largest],
        }


def describe(tensor: Tensor) -> dict[str, Any]:
    return {"name": tensor.name, "dtype": tensor.dtype, "shape": list(tensor.shape), "bytes": _size(tensor)}


def matching(header: Header, patterns: Sequence[str]) -> list[Tensor]:
    """The tensors whose name fits one of the shell globs."""
    return [
        tensor for tensor in header.entries if any(fnmatch.fnmatchcase(tensor.name, pattern) for pattern in patterns)
    ]


def _size(tensor: Tensor) -> int:
    return tensor.end - tensor.begin
