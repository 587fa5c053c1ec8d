# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The index of a sharded model: which tensor is in which file, checked in both directions.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
from typing import Any, Collection, Mapping

INDEX_SUFFIX = ".safetensors.index.json"


class WeightIndexError(Exception):
    """One defect of the index file itself, as a sentence without its name."""


def parse_index(raw: bytes) -> dict[str, str]:
    """The ``weight_map`` of an index: tensor name -> file name beside the index."""
    try:
        index = json.loads(raw.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise WeightIndexError(f"it is not valid JSON: {error}") from None
    weight_map = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(weight_map, dict):
        raise WeightIndexError("it has no weight_map object")
    for tensor, shard in weight_map.items():
        if not isinstance(shard, str) or not shard or shard.startswith("/") or ".." in shard.split("/"):
            raise WeightIndexError(f"it maps tensor {tensor!r} to {shard!r}, which is not a file name beside it")
    return weight_map


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
