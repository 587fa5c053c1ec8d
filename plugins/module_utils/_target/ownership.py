# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owner, group and mode of a directory of files, with Ansible's own idea of what a change is.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
from typing import Any, Iterable


def apply_ownership(
    module: Any,
    root: str,
    paths: Iterable[str],
    owner: str | None,
    group: str | None,
    mode: str | None,
    directory_mode: str | None,
) -> bool:
    """Give *root*, the files *paths* below it, and the directories between them what is asked for.

    Returns whether anything changed, or would change in check mode; what does not exist yet is left out.
    """
    directories = {root}
    wanted = []
    for path in paths:
        wanted.append((os.path.join(root, path), mode))
        parent = os.path.dirname(path)
        while parent:
            directories.add(os.path.join(root, parent))
            parent = os.path.dirname(parent)
    wanted += [(directory, directory_mode) for directory in sorted(directories)]
    changed = False
    for place, bits in wanted:
        if os.path.lexists(place):
            changed = module.set_owner_if_different(place, owner, changed)
            changed = module.set_group_if_different(place, group, changed)
            changed = module.set_mode_if_different(place, bits, changed)
    return bool(changed)
