# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do after a failure, and when to stop trying.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Mapping

# A file may fail this often in a row without a single new byte before the run gives up.
MAX_FRUITLESS = 5
LONGEST_PAUSE_SECONDS = 30.0

DISK_FULL_CODE = 9
# aria2's other exit codes that another attempt cannot cure (manual, "EXIT STATUS"), with the way out.
FATAL_CODES = {
    3: "the file is not there",
    13: "the file exists already",
    15: "the file cannot be opened: look at the directory's owner and mode",
    16: "the file cannot be created: look at the directory's owner and mode",
    17: "reading or writing the disk failed: look at the kernel's log",
    18: "a directory cannot be created: look at its parent's owner and mode",
    28: "aria2 does not accept an option",
}


def fatal_reason(code: int) -> str | None:
    """Why a failure with aria2's *code* is final, or None where a new attempt makes sense."""
    return FATAL_CODES.get(code)


@dataclass
class Attempts:
    """The failures of one file. Only failures in a row that brought no new byte count."""

    fruitless: int = 0
    best_bytes: int = 0
    not_before: float = 0.0  # on the driver's clock
    wiped: bool = False  # whether complete but wrong content was thrown away once already

    def failed(self, completed_bytes: int, now: float, wait_seconds: float = 0.0) -> bool:
        """Note a failure and when to try again; True when it is time to give up.

        A wait that the other side asked for (a rate limit) is not a failure of ours and does not count.
        """
        if completed_bytes > self.best_bytes:
            self.best_bytes = completed_bytes
            self.fruitless = 0
        if wait_seconds:
            self.not_before = now + wait_seconds
            return False
        self.fruitless += 1
        self.not_before = now + min(LONGEST_PAUSE_SECONDS, 2.0 ** (self.fruitless - 1))
        return self.fruitless >= MAX_FRUITLESS


@dataclass
class Memory:
    """What a transfer remembers from one slice to the next; everything else it reads from aria2 and the disk.

    *attempts* by path; the session itself goes under the empty path. *moved_at* is when *held_bytes* last changed.
    """

    attempts: dict[str, Attempts] = field(default_factory=dict)
    moved_at: float | None = None
    held_bytes: int = 0

    def of(self, path: str) -> Attempts:
        return self.attempts.setdefault(path, Attempts())

    def dump(self) -> dict[str, Any]:
        """As plain values for JSON, without the files that never failed."""
        failed = {path: asdict(entry) for path, entry in self.attempts.items() if entry != Attempts()}
        return {"attempts": failed, "moved_at": self.moved_at, "held_bytes": self.held_bytes}


def load_memory(value: Mapping[str, Any]) -> Memory:
    attempts = {path: Attempts(**entry) for path, entry in value.get("attempts", {}).items()}
    return Memory(attempts, value.get("moved_at"), value.get("held_bytes", 0))
