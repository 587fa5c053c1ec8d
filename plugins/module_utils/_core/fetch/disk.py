# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A full disk, told from other troubles: whoever met it first, people read the same sentence.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import errno


def is_full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def explain(path: str, error: OSError) -> str:
    """What kept a download from working in *path*."""
    if is_full(error):
        return f"The disk of {path} is full ({error.strerror}): free space there and run again, what is there is kept"
    return f"Cannot work in {path}: {error}"
