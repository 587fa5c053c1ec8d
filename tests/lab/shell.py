# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run programs, and own what was started: every background process is stopped by its id, never by its name."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path


class LabError(Exception):
    """A sentence for the person at the terminal."""


def run(
    *argv: str | Path, check: bool = True, timeout: float = 1800, **kwargs: object
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; a failure carries its last lines."""
    words = [str(word) for word in argv]
    done = subprocess.run(words, text=True, capture_output=True, check=False, timeout=timeout, **kwargs)  # type: ignore[call-overload]
    if check and done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        raise LabError(f"`{' '.join(words)}` ended with {done.returncode}:\n{tail}")
    return done


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock, so that two labs never build the same thing twice."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _identity(pid: int) -> str:
    """A process's start time in clock ticks (field 22 of /proc/PID/stat): a recycled id has another one."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] == "Z" else fields[19]


class Process:
    """A background process recorded in a file, so that a later command finds exactly it again."""

    def __init__(self, record: Path) -> None:
        self.record = record

    @property
    def pid(self) -> int:
        """The id of the running process, or 0."""
        try:
            pid, identity = self.record.read_text().split()
        except (OSError, ValueError):
            return 0
        return int(pid) if _identity(int(pid)) == identity else 0

    def start(self, *argv: str | Path, log: Path, env: dict[str, str] | None = None) -> None:
        """Start in a session of its own; output goes to `log`."""
        self.record.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            child = subprocess.Popen(
                [str(word) for word in argv],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **(env or {})},
            )
        self.record.write_text(f"{child.pid} {_identity(child.pid)}\n")

    def stop(self, sig: int = signal.SIGTERM, patience_seconds: float = 10) -> None:
        """Ask, wait, then kill; returns when the process is gone."""
        pid = self.pid
        if pid:
            os.kill(pid, sig)
            if not wait_for(lambda: not self.pid, patience_seconds):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                wait_for(lambda: not self.pid, 10)
        self.record.unlink(missing_ok=True)


def stop_recorded(lab: Path) -> None:
    """Stop every process with a record in a directory of *lab*, whoever started it: also what an aborted run left."""
    for record in lab.glob("*/*pid"):
        Process(record).stop()


def wait_for(condition: object, seconds: float, step_seconds: float = 0.1) -> bool:
    """Poll a condition of the machine; False when the time is up."""
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > end:
            return False
        time.sleep(step_seconds)
    return True
