# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All weights of a directory together: every header, and every index against the shards beside it.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import gc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Callable, Collection, Iterable, Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.findings import Defect, Defects
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.header import Header
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.index import (
    INDEX_SUFFIX,
    WeightIndexError,
    compare_index,
    compare_total,
    read_index,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.numbering import find_gaps
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.safetensors import SUFFIX
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_tree import ModelTree
from ansible_collections.inferops.sglang.plugins.module_utils._target.weights_file import look_at

# Headers wait for the disk or the network more than for a processor.
LOOK_THREADS = 8


@dataclass
class WeightsSet:
    """What is wrong, by file; *tensors* has the names in every shard whose header could be read."""

    defects: list[tuple[str, Defect]] = field(default_factory=list)
    defects_total: int = 0
    warnings: list[str] = field(default_factory=list)
    tensors: dict[str, tuple[str, ...]] = field(default_factory=dict)
    data_bytes: dict[str, int] = field(default_factory=dict)
    looked_at: int = 0

    def add(self, file: str, defects: Defects) -> None:
        self.defects.extend((file, defect) for defect in defects)
        self.defects_total += defects.total


def look_at_all(
    tree: ModelTree,
    paths: Iterable[str],
    proven: Collection[str],
    absent: Collection[str] = (),
    by_name: bool = False,
    see: Callable[[str, Header], None] | None = None,
) -> WeightsSet:
    """Judge the files *paths* of *tree* and their indexes.

    *proven* are the files whose digest is known to be right, *absent* the shards left out on purpose. *by_name*: where no
    index tells which shards there have to be, their names do.
    *see* gets each header, so that nobody has to keep them all.
    """
    result = WeightsSet()
    names = sorted(paths)
    with _without_collector(), ThreadPoolExecutor(LOOK_THREADS) as pool:
        looks = pool.map(lambda path: look_at(path, tree.place(path), path in proven), names)
        for path, found in zip(names, looks):
            result.looked_at += 1
            result.add(path, found.defects)
            result.warnings.extend(f"{path}: {warning}" for warning in found.warnings)
            if found.header:
                result.tensors[path] = found.header.tensors
                result.data_bytes[path] = found.header.data_bytes
                if see:
                    see(path, found.header)
    indexes = [path for path in names if path.endswith(INDEX_SUFFIX)]
    for path in indexes:
        _compare(tree, path, absent, result)
    if not indexes:
        _find_twins(result)
    if not indexes and by_name:
        for path, sentence in find_gaps(names).items():
            gap = Defects()
            gap.add("missing", sentence)
            result.add(path, gap)
    return result


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """A large model has half a million objects and no cycle among them; to look for cycles is a third of the work."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _compare(tree: ModelTree, path: str, absent: Collection[str], result: WeightsSet) -> None:
    """One index against the shards beside it, in both directions."""
    folder = path[: path.rfind("/") + 1]
    defects = Defects()
    try:
        with open(tree.place(path), "rb") as stream:
            index = read_index(stream.read())
    except (WeightIndexError, OSError) as error:
        defects.add("index", str(error))
        result.add(path, defects)
        return
    shards = {name[len(folder) :]: names for name, names in result.tensors.items() if name.startswith(folder)}
    missing = {name[len(folder) :] for name in absent if name.startswith(folder)}
    # A shard without a readable header has its own defect; the index is not to blame for it.
    unreadable = {name[len(folder) :] for name in tree.files if name.startswith(folder)} - set(shards)
    for sentence in compare_index(index.weight_map, shards, missing | unreadable):
        defects.add("index", sentence)
    result.add(path, defects)
    named = set(index.weight_map.values())
    warnings = list(index.warnings)
    if named <= set(shards):
        total = compare_total(index.total_bytes, sum(result.data_bytes[folder + shard] for shard in named))
        warnings.extend([total] if total else [])
    for shard in sorted(set(shards) - named):
        if "/" not in shard:
            warnings.append(f"it does not name {shard}, which a reader that takes every *{SUFFIX} loads as well")
    result.warnings.extend(f"{path}: {warning}" for warning in warnings)


def _find_twins(result: WeightsSet) -> None:
    """Without an index a reader takes every shard, so a tensor in two of them has two values."""
    homes: dict[tuple[str, str], str] = {}
    for path, names in result.tensors.items():
        folder = path[: path.rfind("/") + 1]
        twins = [name for name in names if homes.setdefault((folder, name), path) != path]
        if twins:
            defects = Defects()
            other = homes[(folder, twins[0])]
            more = f" (and {len(twins) - 1} more)" if len(twins) > 1 else ""
            defects.add(
                "twin", f"tensor {twins[0]!r}{more} is in {other} too, and no index says which counts", twins[0]
            )
            result.add(path, defects)
