# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What separates two trees, and which contents have to travel to make them the same.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from typing import Iterable, NamedTuple

from ansible_collections.inferops.sglang.plugins.module_utils._core.venv.manifest import EMPTY, Entry, is_bytecode

DIFF_LINES = 40


class Content(NamedTuple):
    """The bytes of one or more files, named by their SHA-256."""

    digest: str
    size: int


class Difference(NamedTuple):
    """Paths to add, change and remove, sorted, and the contents that the receiving side lacks.

    Each content stands once in *contents*, however many files hold it, in the order of the sender's paths.
    Bytecode makes no difference of its own, but travels along with one.
    """

    added: list[str]
    changed: list[str]
    removed: list[str]
    contents: list[Content]

    @property
    def any(self) -> bool:
        """Whether the trees differ at all."""
        return bool(self.added or self.changed or self.removed)

    @property
    def bytes(self) -> int:
        """How much has to travel, before compression."""
        return sum(content.size for content in self.contents)


def compare(wanted: Iterable[Entry], present: Iterable[Entry], received: Iterable[str] = ()) -> Difference:
    """What has to happen for the tree *present* to become *wanted*.

    *received* are digests of contents that are at hand already, from an earlier run that was cut short.
    """
    wanted = list(wanted)
    theirs = {entry.path: entry for entry in wanted if not is_bytecode(entry.path)}
    ours: dict[str, Entry] = {}
    at_hand: set[str] = {EMPTY, *received}
    for entry in present:
        if entry.kind == "f":
            at_hand.add(entry.content)
        if not is_bytecode(entry.path):
            ours[entry.path] = entry

    added = sorted(path for path in theirs if path not in ours)
    removed = sorted(path for path in ours if path not in theirs)
    changed = sorted(path for path in theirs if path in ours and not same(theirs[path], ours[path]))

    contents: list[Content] = []
    if added or changed or removed:
        for entry in wanted:
            if entry.kind == "f" and entry.content not in at_hand:
                at_hand.add(entry.content)
                contents.append(Content(entry.content, entry.size))
    return Difference(added, changed, removed, contents)


def same(one: Entry, other: Entry) -> bool:
    """Whether two entries are the same thing; the time of a file is not part of it."""
    return (one.kind, one.mode, one.size, one.content) == (other.kind, other.mode, other.size, other.content)


def summary(difference: Difference, limit: int = DIFF_LINES) -> list[str]:
    """The difference as at most *limit* lines for a reader, and one that counts what was left out."""
    lines = [
        *(f"- {path}" for path in difference.removed),
        *(f"~ {path}" for path in difference.changed),
        *(f"+ {path}" for path in difference.added),
    ]
    if len(lines) > limit:
        lines = [*lines[:limit], f"... and {len(lines) - limit} more"]
    return lines
