# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The index of a sharded model: which tensor is in which file, checked in both directions.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Collection, Mapping

INDEX_SUFFIX = ".safetensors.index.json"


class WeightIndexError(Exception):
    """One defect of the index file itself, as a sentence without its name."""


@dataclass(frozen=True)
class Index:
    """*weight_map* maps tensor to file name beside the index; *total_bytes* is None where it is no number."""

    weight_map: dict[str, str]
    total_bytes: int | None
    warnings: tuple[str, ...]


def read_index(raw: bytes) -> Index:
    """Judge an index file on its own; raises WeightIndexError."""
    try:
        index = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise WeightIndexError(f"it is not valid JSON: {error}") from None
    weight_map = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(weight_map, dict):
        raise WeightIndexError("it has no weight_map object")
    shards: dict[str, str] = {}
    for tensor, shard in weight_map.items():
        # One string a shard instead of one a tensor, and one check: a model has 100,000 tensors.
        known = shards.get(shard) if isinstance(shard, str) else None
        if known is None:
            known = shards[_checked(tensor, shard)] = shard
        weight_map[tensor] = known
    metadata = index.get("metadata")
    told = metadata.get("total_size") if isinstance(metadata, dict) else None
    if told is None or (isinstance(told, int) and not isinstance(told, bool)):
        return Index(weight_map, told, ())
    return Index(weight_map, None, (f"its total_size is {told!r}, not a whole number; readers ignore it",))


def parse_index(raw: bytes) -> dict[str, str]:
    """The ``weight_map`` of an index: tensor name -> file name beside the index."""
    return read_index(raw).weight_map


def _checked(tensor: str, shard: Any) -> str:
    if not isinstance(shard, str) or not shard or shard.startswith("/") or ".." in shard.split("/"):
        raise WeightIndexError(f"it maps tensor {tensor!r} to {shard!r}, which is not a file name beside it")
    return shard


def compare_total(total_bytes: int | None, data_bytes: int) -> str | None:
    """A warning where total_size is not the sum of all tensors.

    It legitimately differs in the field: tied weights counted twice, files quantised again.
    """
    if total_bytes is None or total_bytes == data_bytes:
        return None
    return f"its total_size is {total_bytes}, the tensors of its shards take {data_bytes} bytes; readers ignore it"


def compare_index(
    weight_map: Mapping[str, str], shards: Mapping[str, Collection[str]], absent: Collection[str]
) -> list[str]:
    """Every disagreement between an index and its shards, one sentence each.

    *shards* maps the name of each shard at hand to its tensors. *absent* names shards left out on purpose,
    about which nothing can be said.
    """
    defects = []
    expected: dict[str, set[str]] = {}
    for tensor, shard in weight_map.items():
        expected.setdefault(shard, set()).add(tensor)
    for shard in sorted(expected):
        if shard in absent:
            continue
        if shard not in shards:
            defects.append(f"it names {shard}, which is not there")
            continue
        here = set(shards[shard])
        missing, unknown = sorted(expected[shard] - here), sorted(here - expected[shard])
        if missing:
            defects.append(f"it says that {shard} holds tensor {missing[0]!r}{_more(missing)}; the file does not")
        if unknown:
            defects.append(f"{shard} holds tensor {unknown[0]!r}{_more(unknown)}, which the index does not give it")
    return defects


def _more(names: list[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("an object names the same key twice")
    return value
