# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who uses a directory: processes that work with it, and units that will when they start.

A process says so by its working directory, its open and mapped files, its arguments and by small files that these
name, because services often keep the name of their model in a configuration file. In a container files have other
names, so there the file itself is compared.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed

LARGEST_CONFIGURATION_BYTES = 256 * 1024
# Units of this collection come and go with a download; who runs one holds the lock or is asked in another way.
OWN_UNITS = "inferops-model-"
_PATH = re.compile(r"/[^\s\"'`;,:=|&<>(){}\[\]\\\0]+")
_UNIT_KEYS = (
    "Id,ActiveState,UnitFileState,ExecStart,WorkingDirectory,RootDirectory,Environment,EnvironmentFiles,"
    "BindPaths,BindReadOnlyPaths"
)


@dataclass
class User:
    """*paths* are real ones, *links* as they were written; *files* are (device, inode) of what has no name out here.

    *started_at* is in seconds since the epoch, 0 for a unit that may start at any time.
    """

    title: str
    started_at: float
    links: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    files: set[tuple[int, int]] = field(default_factory=set)

    def name(self, path: str) -> None:
        self.links.add(os.path.normpath(path))
        self.paths.add(os.path.realpath(path))

    def mention(self, text: str) -> None:
        """Take up every absolute path in *text*."""
        for path in set(_PATH.findall(text)):
            self.name(path)


class Users:
    """Everybody on this host, read once. *run_command* is AnsibleModule.run_command. Needs root."""

    def __init__(self, run_command: Callable[..., Any], proc: str = "/proc") -> None:
        if os.geteuid() != 0:
            raise TransferFailed("Only root can tell whether somebody uses a model: use become")
        self._proc = proc
        self._seen: dict[str, tuple[int, int] | None] = {}
        self._all = [*self._processes(), *_units(run_command)]

    def of(self, place: str) -> list[User]:
        """The users of *place* or of anything below it."""
        real = os.path.realpath(place)
        files = {_identity(os.path.join(folder, name)) for folder, _folders, names in os.walk(real) for name in names}
        return [user for user in self._all if _any_inside(user.paths, real) or user.files & files]

    def of_link(self, link: str, before: float) -> list[User]:
        """The users that speak of *link* and have run since before the time *before*, when it was turned."""
        spelled = (
            os.path.normpath(link),
            os.path.join(os.path.realpath(os.path.dirname(link)), os.path.basename(link)),
        )
        return [
            user
            for user in self._all
            if 0 < user.started_at < before and any(_any_inside(user.links, name) for name in spelled)
        ]

    def _processes(self) -> Iterator[User]:
        boot = _boot_time(self._proc)
        own = _ancestors(self._proc, os.getpid())
        for pid in os.listdir(self._proc):
            home = os.path.join(self._proc, pid)
            unit = _read(os.path.join(home, "cgroup")).strip().rpartition("/")[2]
            if not pid.isdigit() or int(pid) in own or unit.startswith(OWN_UNITS):
                continue
            fields = _read(os.path.join(home, "stat")).rpartition(")")[2].split()
            arguments = _read(os.path.join(home, "cmdline")).split("\0")
            if len(fields) < 20 or not arguments[0]:
                continue  # it has just ended, or is a thread of the kernel
            started = boot + int(fields[19]) / os.sysconf("SC_CLK_TCK")
            title = f"process {pid} ({' '.join(' '.join(arguments).split())[:80]})"
            user = User(f"{unit}, {title}" if unit.endswith(".service") else title, started)
            where = _link(os.path.join(home, "cwd")) or "/"
            for argument in arguments:
                user.mention(argument)
                user.name(os.path.join(where, argument.rpartition("=")[2]))
            _take_up_configurations(user)
            self._note_open(user, home)
            yield user

    def _note_open(self, user: User, home: str) -> None:
        user.paths.update(
            name for name in (_link(os.path.join(home, "cwd")), _link(os.path.join(home, "root"))) if name
        )
        try:
            descriptors = os.listdir(os.path.join(home, "fd"))
        except OSError:
            descriptors = []
        for descriptor in descriptors:
            place = os.path.join(home, "fd", descriptor)
            self._note_file(user, _link(place), _identity(place, follow=True))
        for line in set(_read(os.path.join(home, "maps")).splitlines()):
            fields = line.split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                major, minor = (int(number, 16) for number in fields[3].split(":"))
                self._note_file(user, fields[5], (os.makedev(major, minor), int(fields[4])))

    def _note_file(self, user: User, path: str, identity: tuple[int, int] | None) -> None:
        if not path.startswith("/"):
            return  # a socket, a pipe
        if path not in self._seen:
            self._seen[path] = _identity(path)
        if identity is None or identity == self._seen[path]:
            user.paths.add(path)
        else:
            user.files.add(identity)


def _units(run_command: Callable[..., Any]) -> Iterator[User]:
    """Every service that is at work, or begins at the next boot."""
    _status, out, _err = run_command(["systemctl", "show", "--type=service", "--all", f"--property={_UNIT_KEYS}", "*"])
    for block in out.split("\n\n"):
        values = dict(line.partition("=")[::2] for line in block.splitlines())
        idle = values.get("ActiveState") == "inactive" and values.get("UnitFileState") != "enabled"
        if values.get("Id") and not idle and not values["Id"].startswith(OWN_UNITS):
            user = User(values["Id"], 0.0)
            user.mention(block)
            _take_up_configurations(user)
            yield user


def _take_up_configurations(user: User) -> None:
    for path in sorted(user.paths):
        if path.startswith(("/proc/", "/sys/", "/dev/")):
            continue
        try:
            found = os.stat(path)
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) and found.st_size <= LARGEST_CONFIGURATION_BYTES:
            user.mention(_read(path))


def _any_inside(paths: Iterable[str], place: str) -> bool:
    return any(path == place or path.startswith(place + "/") for path in paths)


def _identity(path: str, follow: bool = False) -> tuple[int, int] | None:
    """(device, inode) of a regular file."""
    try:
        found = os.stat(path, follow_symlinks=follow)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _ancestors(proc: str, pid: int) -> set[int]:
    """*pid* and the processes that it descends from: the run of Ansible itself is no user."""
    found: set[int] = set()
    while pid > 1 and pid not in found:
        found.add(pid)
        fields = _read(os.path.join(proc, str(pid), "stat")).rpartition(")")[2].split()
        pid = int(fields[1]) if len(fields) > 1 else 0
    return found


def _boot_time(proc: str) -> float:
    lines = _read(os.path.join(proc, "stat")).splitlines()
    return next((float(line.split()[1]) for line in lines if line.startswith("btime ")), 0.0)


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read()
    except OSError:
        return ""
