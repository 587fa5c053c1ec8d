# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The port before a start: free, held by the unit itself, or taken by somebody who is named.

SGLang binds after it has loaded the model, so a taken port costs the whole load; and against a stranger's server it then
hangs for two minutes in its warm-up (measured, 0.5.23).

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.processes import Processes
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.sockets import (
    collides,
    holds_socket,
    listening_inodes,
)


def holder(processes: Processes, unit: str, host: str, port: int) -> str:
    """Who keeps `unit` from listening on `host` and `port`, as a clause; empty where nobody does."""
    tables = [processes.read(f"proc/net/{name}") for name in ("tcp", "tcp6")]
    in_the_way = [inode for inode, address in listening_inodes(tables, port).items() if collides(address, host)]
    own = processes.of_unit(f"/system.slice/{unit}")  # asked first, because looking at every process takes long
    for inode in in_the_way:
        if holds_socket(own, [inode], processes.links):
            continue
        pid = holds_socket(processes.everything(), [inode], processes.links)
        if pid is None:
            return "a process that this user may not see, or of another container"
        if processes.unit_of(pid) != unit:
            return processes.described(pid)
    return ""
