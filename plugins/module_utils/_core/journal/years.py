# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The year that the stamps of syslog do not have.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

_DAY = 86400.0
# Stamps without a year are read as those of 2000, which has a 29th of February.
_YEAR = 366 * _DAY
# Writers who meet at midnight are seconds apart, and a host without a clock of its own sets it after minutes. A stamp that
# is back over New Year by more is one of the year's end, eleven months on.
_DISORDER = 3600.0


class Years:
    """Gives the stamps of one log, in the order of its lines, the year that their months imply.

    Only a jump of more than half a year tells: back from December to January a year has gone by, and on to December right
    after New Year a line came late. Any other step back is a clock that was set or a line that came late, and stays one.
    """

    def __init__(self) -> None:
        self._begin = 0.0  # of the current year, in seconds after that of the first stamp
        self._latest: float | None = None

    def placed(self, stamp: float) -> float:
        """Seconds since the epoch of *stamp*, which is one of the year 2000."""
        time = stamp + self._begin
        if self._latest is not None:
            if self._latest - time > _YEAR / 2:
                self._begin += _YEAR
                time += _YEAR
            elif 0 <= self._latest - (time - _YEAR) <= _DISORDER:
                return time - _YEAR
        self._latest = time
        return time
