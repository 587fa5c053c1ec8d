# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a start has come, read from the program's milestones.

The texts are those of SGLang 0.5.5 to 0.5.23; a version that lacks one merely merges two phases.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Iterable

from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import UNIT, Entry

# Phase, what a person calls it, and the texts that begin it, in the order of a start.
PHASES = (
    ("startup", "starting up", ()),
    ("tokenizer", "reading the model's configuration", ("server_args=", "chat template with detected content format")),
    ("distributed_init", "setting up the ranks", ("Init parallel begin", "Init torch distributed begin")),
    (
        "model_init",
        "building the model",
        ("Memory baseline taken", "Init parallel ends", "Init torch distributed ends"),
    ),
    (
        "weight_load",
        "loading weights",
        (
            "Load weight begin",
            "loading shards:",
            "Loading safetensors checkpoint shards",
            "Loading pt checkpoint shards",
        ),
    ),
    ("kv_cache", "allocating the KV cache", ("Load weight end", "KV Cache is allocated", "Memory pool end")),
    ("autotune", "tuning kernels", ("Running FlashInfer autotune",)),
    (
        "cuda_graph_capture",
        "capturing CUDA graphs",
        ("CUDA graph begin", "Capture cuda graph begin", "Capturing batches", " cuda graph addresses"),
    ),
    (
        "http_start",
        "starting the HTTP server",
        ("max_total_num_tokens=", "Engine startup timings", "Started server process", "Application startup complete"),
    ),
    ("warmup", "answering the warm-up request", ("Uvicorn running on", "startup warmup")),
    ("serving", "serving", ("The server is fired up and ready to roll",)),
    ("shutdown", "stopping", ("SIGTERM received. signum",)),
)
TITLES = {name: title for name, title, _texts in PHASES}
_ORDER = {name: position for position, (name, _title, _texts) in enumerate(PHASES)}
_BEGIN = tuple((text, name) for name, _title, texts in PHASES for text in texts)
_AT_WORK = ("Decode batch", "Prefill batch")
_SHARDS = re.compile(r"(?:shards:|Capturing batches|checkpoint shards).*?\|.*?(\d+)/(\d+)")


def _begun(text: str) -> str:
    """The phase that a line begins, or an empty string."""
    for mark, name in _BEGIN:
        if mark in text:
            return name
    return ""


@dataclass(frozen=True)
class Reached:
    """A phase that began at `index` among the entries, at `time` (seconds since the epoch, None where unknown)."""

    name: str
    index: int
    time: float | None


class Timeline:
    """Collects milestones while lines come in. A start only moves forward: the first rank to arrive counts."""

    def __init__(self) -> None:
        self.reached: list[Reached] = []
        self.progress = ""
        self._count = 0
        self._last_time: float | None = None

    def feed(self, entries: Iterable[Entry]) -> bool:
        """Take the next entries; True where a phase began or a counter moved."""
        moved = False
        for entry in entries:
            moved = self._take(entry) or moved
        return moved

    def _take(self, entry: Entry) -> bool:
        index, self._count = self._count, self._count + 1
        if entry.time is not None:
            self._last_time = entry.time
        if not self.reached:
            self.reached.append(Reached("startup", index, entry.time))
        if entry.source != UNIT:
            return False
        name = _begun(entry.text)
        if not name and self.reached[-1].name == "startup" and entry.text.startswith(_AT_WORK):
            name = "serving"  # the log begins after the start
        if not name:
            return False
        moved = False
        if _ORDER[name] > _ORDER[self.reached[-1].name]:
            self.reached.append(Reached(name, index, entry.time))
            self.progress = ""
            moved = True
        shards = _SHARDS.search(entry.text)
        if shards and name == self.reached[-1].name:
            progress = f"{shards.group(1)}/{shards.group(2)}"
            moved = moved or progress != self.progress
            self.progress = progress
        return moved

    @property
    def phase(self) -> str:
        """The name of the current phase."""
        return self.reached[-1].name if self.reached else "startup"

    def at(self, index: int) -> str:
        """The phase that the entry at `index` fell into."""
        name = "startup"
        for reached in self.reached:
            if reached.index > index:
                break
            name = reached.name
        return name

    def seconds(self, end: float | None = None) -> list[dict[str, Any]]:
        """Each phase with its seconds; the last one lasts until `end` or the last line's time."""
        until = end if end is not None else self._last_time
        times = [reached.time for reached in self.reached[1:]] + [until]
        return [
            {
                "name": reached.name,
                "title": TITLES[reached.name],
                "seconds": round(max(0.0, after - reached.time), 2)
                if after is not None and reached.time is not None
                else None,
            }
            for reached, after in zip(self.reached, times)
        ]
