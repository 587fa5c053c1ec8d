# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kill the SSH server process of the connection that a module works for: the one that holds the lock of a directory."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path


def holder(lock: str) -> int:
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) == lock:
                return int(link.parts[2])
        except OSError:
            continue
    sys.exit(f"Nobody holds {lock}")


def parent(pid: int) -> tuple[int, str]:
    """The parent of *pid*, and the name of *pid* itself."""
    name, _bracket, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
    return int(rest.split()[1]), name


pid = holder(sys.argv[1])
above, name = parent(pid)
while not name.startswith("sshd"):
    pid = above
    above, name = parent(pid)
if above == 1:
    sys.exit(f"{pid} {name} is the server itself")
os.kill(pid, signal.SIGKILL)
print(f"killed {pid} {name}")
