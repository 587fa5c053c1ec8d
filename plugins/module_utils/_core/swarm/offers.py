# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a host can give to others: the files that its receipts speak for, by digest.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Mapping


@dataclass(frozen=True)
class Offer:
    """One verified file: where it may lie (the first place where it is), and what it was when it was hashed."""

    places: tuple[str, ...]
    size: int
    mtime_ns: int
    inode: int

    def is_still(self, stat: Any) -> bool:
        """Whether a file with this *stat* is the one that was hashed."""
        return (stat.st_size, stat.st_mtime_ns, stat.st_ino) == (self.size, self.mtime_ns, self.inode)


def offers(receipts: str, directories: tuple[str, ...]) -> dict[str, Offer]:
    """The offers of one file of receipts (`_core.weights.receipts`), by digest; none where it is damaged.

    *directories* are tried in order: a file moves from the staging directory to its own while it is being offered.
    """
    try:
        entries = json.loads(receipts)
        return {entry["digest"]: _offer(path, entry, directories) for path, entry in entries.items()}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return {}


def _offer(path: str, entry: Mapping[str, Any], directories: tuple[str, ...]) -> Offer:
    places = tuple(f"{directory}/{path}" for directory in directories)
    return Offer(places, int(entry["size"]), int(entry["mtime_ns"]), int(entry["inode"]))
