# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run at a time for a model's directory.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from typing import Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.extras import STATE_DIRECTORY


@contextlib.contextmanager
def locked(path: str) -> Iterator[bool]:
    """Keep out other runs; gives False where one is at work in *path* right now."""
    place = os.path.join(path, STATE_DIRECTORY, "lock")
    os.makedirs(os.path.dirname(place), mode=0o755, exist_ok=True)
    with open(place, "w", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield _is_still(place, stream.fileno())


def _is_still(place: str, descriptor: int) -> bool:
    """Whether the lock has its name still: a run that removed the model took it along."""
    try:
        return os.path.samestat(os.stat(place), os.fstat(descriptor))
    except OSError:
        return False
