# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Put the new tree in the place of the live one, and mend a swap that was cut short.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
import shutil
from typing import NamedTuple


class Places(NamedTuple):
    """The directories around a tree; all of them lie on its file system."""

    live: str
    new: str
    prev: str
    parts: str


def places(path: str) -> Places:
    """The directories that belong to the tree at *path*."""
    return Places(path, path + ".new", path + ".prev", path + ".parts")


def half_done(live: bool, prev: bool) -> bool:
    """Whether a swap stopped between its two renames: the live tree is gone and stands aside."""
    return prev and not live


def recover(where: Places) -> bool:
    """Put the previous tree back if a swap was cut short. Returns whether that was needed."""
    if not half_done(os.path.lexists(where.live), os.path.isdir(where.prev)):
        return False
    os.rename(where.prev, where.live)
    remove(where.new)
    return True


def swap(where: Places, keep_previous: bool) -> None:
    """Rename the new tree into place; the live one becomes the previous one, of which there is only one."""
    if os.path.lexists(where.live):
        if os.path.lexists(where.prev):
            shutil.rmtree(where.prev)
        os.rename(where.live, where.prev)
    os.rename(where.new, where.live)
    if not keep_previous:
        remove(where.prev)


def remove(path: str) -> None:
    """Remove a tree, if it is there."""
    if os.path.lexists(path):
        shutil.rmtree(path)
