# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do after a failure, and when to stop trying.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Mapping

# The run gives up on a file that has failed this often, and for this long, in a row without a single new byte: an
# origin that is being restarted is back within minutes, and hundreds of gigabytes are worth waiting for it.
MAX_FRUITLESS = 5
PATIENCE_SECONDS = 300.0
LONGEST_PAUSE_SECONDS = 30.0

DISK_FULL_CODE = 9
OTHER_PIECES_CODE = 10  # the control file was written for another length of pieces
REFUSAL_CODES = frozenset((22, 24))  # an HTTP status that is no success; 24 is 401
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
    fruitless_since: float = 0.0  # on the driver's clock, like *not_before*
    best_bytes: int = 0
    not_before: float = 0.0
    wiped: bool = False  # whether complete but wrong content was thrown away once already

    def failed(self, completed_bytes: int, now: float, wait_seconds: float = 0.0) -> bool:
        """Note a failure and when to try again; True when it is time to give up.

        A wait that the other side asked for (a rate limit) does not count: where nothing arrives, it is a stall.
        """
        if completed_bytes > self.best_bytes:
            self.best_bytes = completed_bytes
            self.fruitless = 0
        if wait_seconds:
            self.not_before = now + wait_seconds
            return False
        if not self.fruitless:
            self.fruitless_since = now
        self.fruitless += 1
        self.not_before = now + min(LONGEST_PAUSE_SECONDS, 2.0 ** (self.fruitless - 1))
        return self.fruitless >= MAX_FRUITLESS and now - self.fruitless_since >= PATIENCE_SECONDS


@dataclass
class Memory:
    """What a transfer remembers from one slice to the next; everything else it reads from aria2 and the disk.

    *attempts* by path; the session itself goes under the empty path. *given_at* says since when aria2 has the address of
    a file. *moved_at* is when *held_bytes* last changed. *trouble* is the last failure, as a sentence.
    """

    attempts: dict[str, Attempts] = field(default_factory=dict)
    given_at: dict[str, float] = field(default_factory=dict)
    moved_at: float | None = None
    held_bytes: int = 0
    trouble: str = ""

    def of(self, path: str) -> Attempts:
        return self.attempts.setdefault(path, Attempts())

    def dump(self) -> dict[str, Any]:
        """As plain values for JSON, without the files that never failed."""
        failed = {path: asdict(entry) for path, entry in self.attempts.items() if entry != Attempts()}
        return dict(vars(self), attempts=failed)


def load_memory(value: Mapping[str, Any]) -> Memory:
    attempts = {path: Attempts(**entry) for path, entry in value.get("attempts", {}).items()}
    return Memory(**dict(value, attempts=attempts))
