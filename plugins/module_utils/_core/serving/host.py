# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host as a wait sees it: the unit, its journal, its processes and its sockets. Commands are run by the caller.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

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
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.processes import Processes
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.sockets import (
    decoded,
    holds_socket,
    listening_inodes,
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
        self.processes = Processes(root)

    def unit(self) -> UnitState:
        """What systemd says now."""
        argv = ["systemctl", "show", "--no-pager", *[f"--property={name}" for name in PROPERTIES], self._unit]
        _rc, out, _err = self._run(argv)
        return parse_unit(self._unit, out)

    def listening(self, unit: UnitState) -> tuple[str, str]:
        """`ours`, `other` or `nobody` for the port, with a sentence where it is somebody else's."""
        inodes = self._inodes(unit)
        if not inodes:
            return "nobody", ""
        if holds_socket(self._pids(unit), inodes, self.processes.links) is None:
            pid = holds_socket(self.processes.everything(), inodes, self.processes.links)
            owner = self.processes.described(pid) if pid else "a process that this user may not see"
            return "other", f"port {self._port} is held by {owner}"
        return "ours", ""

    def addresses(self, unit: UnitState) -> list[str]:
        """Where the port is listened on, as people write it; all addresses are `0.0.0.0` or `::`."""
        return sorted(str(decoded(address)) for address in self._inodes(unit).values())

    def working(self, unit: UnitState) -> tuple[int, bool]:
        """What the unit's processes have taken in so far (bytes), and whether one of them compiles at this moment."""
        pids = self._pids(unit)
        return self.processes.bytes_taken_in(pids), self.processes.compiling(pids)

    def _inodes(self, unit: UnitState) -> dict[str, str]:
        tables = [self.processes.read(f"proc/{unit.main_pid or 'self'}/net/{name}") for name in ("tcp", "tcp6")]
        return listening_inodes(tables, self._port)

    def _pids(self, unit: UnitState) -> list[int]:
        return self.processes.of_unit(unit.cgroup, unit.main_pid)


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
