# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Receipts: proof that a file was hashed, valid for as long as its metadata says it is the same file.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Mapping


@dataclass(frozen=True)
class Receipt:
    """One verified file: what it was when its digest was found to be right."""

    size: int
    mtime_ns: int
    inode: int
    digest: str
    commit: str

    def covers(self, stat: Any, size: int, digest: str) -> bool:
        """Whether a file with this *stat* is still the one that was hashed, and is what is wanted now."""
        return (
            self.digest == digest
            and self.size == size == stat.st_size
            and self.mtime_ns == stat.st_mtime_ns
            and self.inode == stat.st_ino
        )


def receipt_for(stat: Any, digest: str, commit: str) -> Receipt:
    return Receipt(stat.st_size, stat.st_mtime_ns, stat.st_ino, digest, commit)


def dump_receipts(receipts: Mapping[str, Receipt]) -> str:
    return json.dumps({path: asdict(receipts[path]) for path in sorted(receipts)}, indent=1) + "\n"


def load_receipts(text: str) -> dict[str, Receipt]:
    """The receipts in *text*; none where it is damaged, because a lost receipt costs one more hash and no more."""
    try:
        entries = json.loads(text)
        return {path: _receipt(entry) for path, entry in entries.items()}
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return {}


def _receipt(entry: Mapping[str, Any]) -> Receipt:
    numbers = [entry[name] for name in ("size", "mtime_ns", "inode")]
    texts = [entry[name] for name in ("digest", "commit")]
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in numbers) or not all(
        isinstance(value, str) for value in texts
    ):
        raise TypeError("a receipt with values of the wrong type")
    return Receipt(*numbers, *texts)
