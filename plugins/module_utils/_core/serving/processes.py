# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes as /proc shows them: which belong to a unit, what they hold, and whether they work.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
import re

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.evidence import redact, shorten

# First 15 letters of a name, as the kernel keeps it. A compiler that runs is progress, although nothing is printed.
_COMPILERS = frozenset({
    "nvcc", "cicc", "ptxas", "ptxas-blackwell", "fatbinary", "nvlink", "cudafe++", "cc1", "cc1plus", "as", "ld",
    "ld.bfd", "ld.lld", "lld", "lto1", "clang", "clang++", "hipcc",
})  # fmt: skip
_PAGE = 4096  # bytes; the smallest page there is, so a larger one only counts as less
_UNIT_NAME = re.compile(r"[^/]+\.(?:service|scope)(?=/|$)")


class Processes:
    """Reads below `root`; whatever has ended, or may not be read, counts as nothing."""

    def __init__(self, root: str = "/") -> None:
        self._root = root

    def everything(self) -> list[int]:
        """Every process of the host, by number."""
        return sorted(int(name) for name in self._list("proc") if name.isdigit())

    def of_unit(self, cgroup: str, main_pid: int = 0) -> list[int]:
        """The processes of a unit's control group and of those below it; at least its main process."""
        for base in ("sys/fs/cgroup", "sys/fs/cgroup/systemd", "sys/fs/cgroup/unified"):
            top = os.path.join(self._root, base + cgroup)
            if not cgroup or not os.path.isdir(top):
                continue
            found = [
                int(word)
                for directory, _below, _files in os.walk(top)
                for word in self.read(os.path.join(directory, "cgroup.procs")).split()
                if word.isdigit()
            ]
            if found:
                return found
        return [main_pid] if main_pid else []

    def unit_of(self, pid: int) -> str:
        """The service or scope that a process belongs to, or an empty string."""
        for line in self.read(f"proc/{pid}/cgroup").splitlines():
            found = _UNIT_NAME.findall(line.partition("::")[2] or line.rpartition(":")[2])
            if found:
                return str(found[-1])
        return ""

    def links(self, pid: int) -> list[str]:
        """What a process's descriptors point to."""
        directory = os.path.join(self._root, f"proc/{pid}/fd")
        targets = []
        for name in self._list(f"proc/{pid}/fd"):
            try:
                targets.append(os.readlink(os.path.join(directory, name)))
            except OSError:
                continue  # closed meanwhile
        return targets

    def words(self, pid: int) -> list[str]:
        """The command line; programs that name themselves leave one word (`sglang::scheduler_TP3`)."""
        return [word for word in self.read(f"proc/{pid}/cmdline").split("\0") if word.strip()]

    def environment(self, pid: int) -> dict[str, str]:
        """The environment it was started with. Never shown: it holds secrets."""
        pairs = self.read(f"proc/{pid}/environ").split("\0")
        return dict(pair.split("=", 1) for pair in pairs if "=" in pair)

    def described(self, pid: int) -> str:
        """A process for people: `pid 812 (python3 -m http.server 30001) of session-3.scope`."""
        command = redact(" ".join(self.words(pid))) or self.read(f"proc/{pid}/comm").strip() or "unnamed"
        unit = self.unit_of(pid)
        return f"pid {pid} ({shorten(command, 120)})" + (f" of {unit}" if unit else "")

    def bytes_taken_in(self, pids: list[int]) -> int:
        """What they have read so far, by call, from the disk and through mapped files; it only grows while they live.

        Weights are mapped: on a warm cache nothing but page faults tells that they are being loaded.
        """
        total = 0
        for pid in pids:
            read = re.findall(r"^(?:rchar|read_bytes): (\d+)", self.read(f"proc/{pid}/io"), re.MULTILINE)
            total += sum(int(number) for number in read)
            fields = self.read(f"proc/{pid}/stat").rpartition(")")[2].split()
            if len(fields) > 10:  # minflt and majflt, proc(5)
                total += (int(fields[7]) + int(fields[9])) * _PAGE
        return total

    def compiling(self, pids: list[int]) -> bool:
        """True while one of them is a compiler that runs or waits for its disk."""
        for pid in pids:
            before, _bracket, after = self.read(f"proc/{pid}/stat").rpartition(")")
            if before.partition("(")[2] in _COMPILERS and after.split()[:1] in (["R"], ["D"]):
                return True
        return False

    def read(self, path: str) -> str:
        """The text of a file below the root, empty where it cannot be read."""
        try:
            with open(os.path.join(self._root, path), encoding="utf-8", errors="replace") as handle:
                return handle.read()
        except OSError:
            return ""

    def _list(self, path: str) -> list[str]:
        try:
            return os.listdir(os.path.join(self._root, path))
        except OSError:
            return []
