# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host as a wait sees it: the unit, its journal, its processes and its sockets. Commands are run by the caller.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
import re
from typing import Any, BinaryIO, Callable, Iterable, Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.log import (
    FIELDS,
    JOURNALD,
    KERNEL,
    Entry,
    JournalReader,
    Record,
    parse_json,
    parse_json_line,
    read_lines,
    sieve,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.sockets import (
    holds_socket,
    listening_inodes,
    reachable_from_outside,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.unit import (
    PROPERTIES,
    UnitState,
    parse_unit,
)

RunCommand = Callable[..., Any]  # argv -> (rc, stdout, stderr), in UTC and the C locale; `consume` takes stdout
_KERNEL = re.compile(
    r"Xid|oom-kill|Out of memory|segfault|traps:|general protection|apparmor=\"DENIED\"|I/O error|medium error",
    re.IGNORECASE,
)
_LONG_AFTER_SECONDS = 300
_MOST_AROUND = 100
_JOURNALD = re.compile(r"Suppressed \d+ messages")


class Host:
    """One unit on this host."""

    def __init__(self, run_command: RunCommand, unit: str, port: int, root: str = "/") -> None:
        self._run = run_command
        self._unit = unit
        self._port = port
        self._root = root

    def unit(self) -> UnitState:
        """What systemd says now."""
        argv = ["systemctl", "show", "--no-pager", *[f"--property={name}" for name in PROPERTIES], self._unit]
        _rc, out, _err = self._run(argv)
        return parse_unit(self._unit, out)

    def listening(self, unit: UnitState) -> tuple[str, str]:
        """`ours`, `other` or `nobody` for the port, with a sentence where it is not simply ours."""
        inodes = listening_inodes(
            [self._read(f"proc/{unit.main_pid or 'self'}/net/{name}") for name in ("tcp", "tcp6")], self._port
        )
        if not inodes:
            return "nobody", ""
        if holds_socket(self._pids(unit), inodes, self._links) is None:
            return "other", f"port {self._port} is held by {self.owner(list(inodes))}"
        if not any(reachable_from_outside(address) for address in inodes.values()):
            return "ours", "it listens on loopback only"
        return "ours", ""

    def owner(self, inodes: list[str]) -> str:
        """Who holds one of the sockets, as far as this user may see."""
        pids = (int(name) for name in os.listdir(os.path.join(self._root, "proc")) if name.isdigit())
        pid = holds_socket(pids, inodes, self._links)
        if pid is None:
            return "another process"
        return f"another process (pid {pid}, {self._read(f'proc/{pid}/comm').strip()})"

    def bytes_read(self, unit: UnitState) -> int:
        """How much the unit's processes have read so far: the only sign of life while weights load."""
        total = 0
        for pid in self._pids(unit):
            found = re.search(r"^rchar: (\d+)", self._read(f"proc/{pid}/io"), re.MULTILINE)
            total += int(found.group(1)) if found else 0
        return total

    def _pids(self, unit: UnitState) -> list[int]:
        for base in ("sys/fs/cgroup", "sys/fs/cgroup/systemd", "sys/fs/cgroup/unified"):
            text = self._read(f"{base}{unit.cgroup}/cgroup.procs") if unit.cgroup else ""
            if text:
                return [int(line) for line in text.split() if line.isdigit()]
        return [unit.main_pid] if unit.main_pid else []

    def _links(self, pid: int) -> list[str]:
        directory = os.path.join(self._root, f"proc/{pid}/fd")
        targets = []
        try:
            for name in os.listdir(directory):
                targets.append(os.readlink(os.path.join(directory, name)))
        except OSError:
            pass  # it ended, or belongs to someone else
        return targets

    def _read(self, path: str) -> str:
        try:
            with open(os.path.join(self._root, path), encoding="utf-8", errors="replace") as handle:
                return handle.read()
        except OSError:
            return ""


class Journal:
    """Follows one invocation: first everything since its start, then what is new after the last cursor."""

    def __init__(self, run_command: RunCommand, invocation: str, since: str = "", everything: bool = False) -> None:
        self._run = run_command
        self._invocation = invocation
        self._since = since
        self._everything = everything  # also lines that are routine, for a pattern that may stand in any line
        self._cursor = ""
        self._reader = JournalReader()
        self._began = False
        self._own: float | None = None  # the time of the invocation's last own line
        self._around: list[Entry] = []
        self.problem = ""

    def read(self) -> list[Entry]:
        """Lines since the last call: the invocation's own, systemd's about it, the kernel's and the journal's warnings."""
        found: list[Entry] = []
        self.read_into(found.extend)
        return found

    def read_into(self, take: Callable[[Iterable[Entry]], None]) -> None:
        """The same, handed to `take` while journalctl runs, so that nothing but what it keeps is held."""
        if not self._invocation:
            return
        argv = ["journalctl", "--output=json", "--all", "--no-pager", "--quiet", f"--output-fields={','.join(FIELDS)}"]
        if self._cursor:
            argv.append(f"--after-cursor={self._cursor}")
        elif self._since:
            argv.append(f"--since={self._since}")
        argv += [f"_SYSTEMD_INVOCATION_ID={self._invocation}", "+", f"INVOCATION_ID={self._invocation}"]
        argv += ["+", "_TRANSPORT=kernel", "+", "_SYSTEMD_UNIT=systemd-journald.service"]
        rc, _out, err = self._run(argv, consume=lambda handle: take(self._relevant(handle)))
        if rc != 0:
            self.problem = err.strip()

    def _relevant(self, handle: BinaryIO) -> Iterator[Entry]:
        """The entries that belong to the invocation or tell of the host while it ran."""
        lines = read_lines(handle)
        for entry in self._reader.read(self._noting_cursor(lines if self._everything else sieve(lines))):
            if entry.source not in (KERNEL, JOURNALD):
                yield from self._around
                self._around.clear()
                self._began, self._own = True, entry.time
                yield entry
            elif self._began and _wanted(entry):
                # The host's lines long after the last own line belong to it only if it speaks again.
                if (entry.time or 0) - (self._own or 0) > _LONG_AFTER_SECONDS:
                    self._around = [*self._around[-_MOST_AROUND:], entry]
                else:
                    yield entry

    def _noting_cursor(self, lines: Iterable[bytes]) -> Iterator[Record]:
        for record in parse_json(lines):
            cursor = record.get("__CURSOR")
            if isinstance(cursor, str):
                self._cursor = cursor
            yield record


def invocations(run_command: RunCommand, unit: str) -> list[str]:
    """The IDs of all invocations of which the journal still has systemd's lines, oldest first."""
    argv = ["journalctl", "--output=json", "--no-pager", "--quiet", "--output-fields=INVOCATION_ID", "_PID=1"]
    _rc, out, _err = run_command([*argv, f"UNIT={unit}"])
    records = (parse_json_line(line) for line in out.split("\n"))
    found = [record.get("INVOCATION_ID") for record in records if record]
    return list(dict.fromkeys(one for one in found if isinstance(one, str)))


def _wanted(entry: Entry) -> bool:
    if entry.source == KERNEL:
        return bool(_KERNEL.search(entry.text))
    return entry.source != JOURNALD or bool(_JOURNALD.search(entry.text))
