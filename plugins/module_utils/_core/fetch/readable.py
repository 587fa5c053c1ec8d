# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Numbers for people: sizes, speeds, and how long it will take.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

_UNITS = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def readable_bytes(count: float) -> str:
    for size, unit in _UNITS:
        if count >= size:
            number = count / size
            return f"{number:.1f} {unit}" if number < 100 else f"{number:.0f} {unit}"
    return f"{count:.0f} B"


def readable_seconds(seconds: float) -> str:
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def share_of(done_bytes: int, total_bytes: int) -> str:
    """Both in the unit of the whole, as ``212/590 GiB``."""
    size, unit = next(((size, unit) for size, unit in _UNITS if total_bytes >= size), (1, "B"))
    digits = 1 if total_bytes < 100 * size and size > 1 else 0
    return f"{done_bytes / size:.{digits}f}/{total_bytes / size:.{digits}f} {unit}"


def progress_line(
    done_bytes: int, total_bytes: int, bytes_per_second: float, verified: int, files: int, trouble: str = ""
) -> str:
    """One line such as ``212/590 GiB  36 %  1.9 GiB/s  ETA 3 min 20 s  61/163 files verified``.

    *trouble* is what the transfer waits after.
    """
    parts = [share_of(done_bytes, total_bytes)]
    left = total_bytes - done_bytes
    # Never 100 % before the last byte is there.
    parts.append(f"{min(99, round(100 * done_bytes / total_bytes)) if left > 0 else 100} %")
    if left > 0:
        parts.append(f"{readable_bytes(bytes_per_second)}/s")
        if bytes_per_second >= 1:
            parts.append(f"ETA {readable_seconds(left / bytes_per_second)}")
    parts.append(f"{verified}/{files} files verified")
    if trouble:
        parts.append(f"tries again after {trouble}")
    return "  ".join(parts)
