# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One line of a log, whatever wrote it down.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from typing import NamedTuple

UNIT = "unit"  # the service's own processes
SYSTEMD = "systemd"  # process 1 about the unit
KERNEL = "kernel"
JOURNALD = "journald"  # the journal about itself


class Entry(NamedTuple):
    """One line without its prefixes. A tuple, because logs have hundreds of thousands of them.

    `time` counts seconds since the epoch (where the log names no zone: as if it were UTC; only differences are used)
    and is None where no stamp is known. `rank` is as printed (`TP3`, `TP0 EP0`, `3` becomes `TP3`), empty for the main
    process. `stamped` is true where the program began a log record of its own with this line; a line without it
    continues the record before it in the same stream. `cut` tells that text is missing here.
    """

    text: str
    time: float | None = None
    pid: int | None = None
    rank: str = ""
    source: str = UNIT
    stamped: bool = False
    cut: bool = False

    @property
    def stream(self) -> str:
        """Lines of one writer belong together: by process where it is known, else by rank."""
        return f"pid {self.pid}" if self.pid is not None else f"rank {self.rank}"
