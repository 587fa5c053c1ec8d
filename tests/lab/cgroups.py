# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A control group for every machine.

Without it, machines started from one shell share one tree: the `sglang.service` of two hosts is then the same group,
and each systemd waits for processes of the other that it can neither see nor end.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from lab.places import CACHE
from lab.shell import run


def _unified() -> Path:
    """Where the version 2 hierarchy is mounted; it is mounted in the cache where this machine has it nowhere."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _device, target, kind = line.split()[:3]
        if kind == "cgroup2":
            return Path(target)
    mount = CACHE / "cgroup2"
    mount.mkdir(parents=True, exist_ok=True)
    run("mount", "-t", "cgroup2", "none", mount)
    return mount


def _group(lab: int, host: str) -> Path:
    return _unified() / f"iolab{lab}-{host}"


def entering(lab: int, host: str) -> tuple[str, ...]:
    """The words in front of a command that make it start in the machine's own group."""
    group = _group(lab, host)
    group.mkdir(exist_ok=True)
    return ("/bin/sh", "-c", f'echo $$ > "{group}/cgroup.procs" && exec "$@"', "sh")


def remove(lab: int, host: str) -> None:
    """Take the machine's groups away when its processes are gone."""
    _remove(f"iolab{lab}-{host}")


def sweep() -> None:
    """Take away every group of any lab that was still busy when its machine went."""
    _remove("iolab*")


def _remove(pattern: str) -> None:
    """systemd-nspawn repeats the group in systemd's own hierarchy, where this machine has one beside the unified."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _device, target, kind = line.split()[:3]
        if kind not in ("cgroup", "cgroup2"):
            continue
        for group in Path(target).glob(pattern):
            below = sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True)
            for path in [*below, group]:  # the deepest first, as rmdir wants it
                with contextlib.suppress(OSError):
                    path.rmdir()
