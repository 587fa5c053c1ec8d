# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies beside a model's files and would be loaded with them.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import os
from typing import Iterable, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.extras import extra_files
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_tree import read_tree

_MOST = 20


def find_extra(path: str, listed: Iterable[str]) -> list[str]:
    """The files below *path* that programs load although the model does not list them; none where it is not there."""
    if not os.path.isdir(path):
        return []
    return [extra.path for extra in extra_files(read_tree(path).files, listed)]


def remove_extra(path: str, extra: Sequence[str]) -> None:
    for name in extra:
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(path, name))


def warning(path: str, extra: Sequence[str]) -> str:
    """One sentence about them, with the way out."""
    more = f" and {len(extra) - _MOST} more" if len(extra) > _MOST else ""
    return (
        f"{path} also holds {', '.join(extra[:_MOST])}{more}, which the model does not list and which programs may load: "
        "remove them, or set extra_files to remove or ignore"
    )
