# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A picture of a host's files, taken from outside: proof that a check run changed nothing."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from lab.machine import Machine, known_machines
from lab.shell import LabError

# What a running system writes by itself, and Ansible's own temporary files.
IGNORED = (
    "dev", "proc", "run", "sys", "tmp", "var/tmp", "var/log", "root/.ansible", "etc/machine-id", "etc/.pwd.lock",
    "var/cache/apt", "var/lib/systemd", "var/lib/dbus", "var/lib/private", "var/cache/private",
)  # fmt: skip


def _picture(root: Path) -> dict[str, list[object]]:
    """{path: [type and mode, owner, group, size, mtime]} of everything below root on its own file system."""
    found: dict[str, list[object]] = {}
    for directory, names, files in os.walk(root):
        here = Path(directory)
        names[:] = [name for name in names if str((here / name).relative_to(root)) not in IGNORED]
        for name in names + files:
            path = here / name
            relative = str(path.relative_to(root))
            if relative not in IGNORED:
                entry = path.lstat()
                is_file = stat.S_ISREG(entry.st_mode)
                found[relative] = [
                    oct(entry.st_mode), entry.st_uid, entry.st_gid,
                    entry.st_size if is_file else 0, entry.st_mtime_ns if is_file else 0,
                ]  # fmt: skip
    return found


def _record(machine: Machine) -> Path:
    return machine.home / "picture.json"


def remember(lab: int) -> None:
    for machine in known_machines(lab):
        _record(machine).write_text(json.dumps(_picture(machine.root)))


def compare(lab: int) -> None:
    """Raise with every path that was made, removed or changed since `remember`."""
    differences = []
    for machine in known_machines(lab):
        before, after = json.loads(_record(machine).read_text()), _picture(machine.root)
        for path in sorted(before.keys() | after.keys()):
            if before.get(path) != after.get(path):
                change = "made" if path not in before else "removed" if path not in after else "changed"
                differences.append(f"{machine.spec.name}: /{path} was {change}")
    if differences:
        shown = "\n".join(differences[:40])
        raise LabError(f"Since the picture was taken, {len(differences)} paths differ:\n{shown}")
