# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the names of shards say about how many there are: ``model-00003-of-00009.safetensors``.

So huggingface_hub and transformers name them (split_torch_state_dict_into_shards). Where neither an index nor a listing
is at hand, nothing else can tell that shards are lacking (safetensors#295).

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from typing import Collection

_NUMBERED = re.compile(r"(?P<stem>.*-)(?P<number>[0-9]{5})-of-(?P<total>[0-9]{5})\.safetensors\Z", re.DOTALL)


def find_gaps(paths: Collection[str]) -> dict[str, str]:
    """A sentence for the first shard of each series that is not whole."""
    series: dict[tuple[str, str], dict[str, None]] = {}
    for path in sorted(paths):
        name = _NUMBERED.match(path)
        if name:
            series.setdefault((name["stem"], name["total"]), {})[path] = None
    gaps = {}
    for (stem, total), there in series.items():
        wanted = (f"{stem}{number:05d}-of-{total}.safetensors" for number in range(1, int(total) + 1))
        lacking = [path for path in wanted if path not in there]
        if lacking:
            more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
            gaps[next(iter(there))] = (
                f"by its name it is one of {int(total)} shards, and {lacking[0]}{more} is not there"
            )
    return gaps
