# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A controller that can die: controller.py start NAME ansible-playbook ... | wait NAME | kill NAME | leaks.

It has a process namespace of its own, so that kill -9 takes its workers and SSH clients along, as a power cut does, and
SSH connections of its own, so that it does not share those of the play that watches it.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from lab.places import lab_directory, lab_number
from lab.shell import Process

HOME = lab_directory(lab_number()) / "controllers"


def start(name: str, *command: str) -> str:
    process, log, status = Process(HOME / f"{name}.pid"), HOME / f"{name}.log", HOME / f"{name}.status"
    HOME.mkdir(exist_ok=True)
    for file in (log, status):
        file.unlink(missing_ok=True)
    process.start(
        "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
        "sh", "-c", 'status=$1; shift; "$@"; echo $? >"$status"', "sh", status, *command,
        log=log, env={"ANSIBLE_SSH_CONTROL_PATH_DIR": str(HOME / name)},
    )  # fmt: skip
    return ""


def wait(name: str) -> str:
    """What it has said, once it is over, and how it ended."""
    process = Process(HOME / f"{name}.pid")
    while process.pid:
        time.sleep(0.1)
    return (HOME / f"{name}.log").read_text() + "status " + (HOME / f"{name}.status").read_text()


def kill(name: str) -> str:
    process = Process(HOME / f"{name}.pid")
    if not process.pid:
        sys.exit(f"{name} is over already:\n{(HOME / f'{name}.log').read_text()}")
    process.stop(signal.SIGKILL)
    return ""


def leaks() -> str:
    """Where the controllers show what is read, back to front, from standard input: their logs, and all processes here."""
    text = sys.stdin.read().strip()[::-1]
    logs = list(HOME.glob("*.log"))
    if not text or not logs:
        sys.exit("nothing to look for, or nowhere to look")
    processes = [file for name in ("cmdline", "environ") for file in Path("/proc").glob(f"[0-9]*/{name}")]
    return "".join(f"{place}\n" for place in [*logs, *processes] if text.encode() in _content(place))


def _content(place: Path) -> bytes:
    try:
        return place.read_bytes()
    except OSError:  # a process that has ended meanwhile
        return b""


if __name__ == "__main__":
    os.environ.setdefault("INFEROPS_LAB", "1")
    print({"start": start, "wait": wait, "kill": kill, "leaks": leaks}[sys.argv[1]](*sys.argv[2:]), end="")
