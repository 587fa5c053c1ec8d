# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A test host: a systemd-nspawn machine in a network namespace of its own, reached over SSH."""

from __future__ import annotations

import json
import shutil
import signal
import socket
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lab import cgroups, mirror, network, rootfs
from lab.artifacts import BUILDERS
from lab.places import CACHE, lab_directory
from lab.shell import LabError, Process, locked, run, wait_for

KEY = CACHE / "ssh" / "id_ed25519"


@dataclass(frozen=True)
class Spec:
    """What the inventory says of a host (its lab_* variables)."""

    name: str
    address: str
    suite: str = "bookworm"
    private: bool = False
    # Built once and shared read-only, as {path in the host: name of an artifact}; see lab.artifacts.
    artifacts: dict[str, str] = field(default_factory=dict)


class Machine:
    def __init__(self, lab: int, spec: Spec) -> None:
        self.lab, self.spec = lab, spec
        self.home = lab_directory(lab) / "hosts" / spec.name
        self.root = self.home / "root"
        self.process = Process(self.home / "pid")

    @property
    def running(self) -> bool:
        return self.process.pid != 0

    def up(self) -> bool:
        """Create and boot the host; True when it was not running as described already."""
        known = self.home / "spec.json"
        wanted = json.dumps(asdict(self.spec), sort_keys=True)
        if known.exists() and known.read_text() != wanted:
            self.destroy()
        if not known.exists():
            shutil.rmtree(self.home, ignore_errors=True)
            rootfs.unpack(self.spec.suite, self.root)
            self._furnish()
            known.write_text(wanted)
        if self.running:
            return False
        self.boot()
        return True

    def boot(self) -> None:
        """Power on; the file system is as the last run left it."""
        network.disconnect(self.lab, self.spec.name, self.spec.address)
        network.connect(self.lab, self.spec.name, self.spec.address, self.spec.private)
        shared = {target: BUILDERS[name](self.spec.suite) for target, name in self.spec.artifacts.items()}
        binds = [f"--bind-ro={source}:{target}" for target, source in sorted(shared.items())]
        self.process.start(
            *cgroups.entering(self.lab, self.spec.name),
            "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--boot", "--console=pipe",
            f"--machine={self.spec.name}", f"--directory={self.root}", "--link-journal=no",
            f"--network-namespace-path=/run/netns/{network.namespace(self.lab, self.spec.name)}", *binds,
            log=self.home / "console.log",
            # systemd 256 and newer refuse the legacy cgroup tree that some machines still boot with.
            env={"SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
        )  # fmt: skip
        if not wait_for(self._greets, 60):
            raise LabError(
                f"{self.spec.name} did not answer on port 22 within 60 s; its console is in {self.home}/console.log."
            )

    def power_off(self) -> None:
        """Pull the plug: no shutdown job runs, nothing is flushed by a service."""
        for pid in self._children():
            run("kill", "-9", str(pid), check=False)
        self.process.stop(signal.SIGKILL)
        cgroups.remove(self.lab, self.spec.name)

    def shut_down(self) -> None:
        """Ask init for a clean power-off (signal(7), systemd(1): SIGRTMIN+4), then make sure."""
        for pid in self._children():
            run("kill", "-s", "RTMIN+4", str(pid), check=False)
        wait_for(lambda: not self.running, 20)
        self.power_off()

    def destroy(self) -> None:
        self.power_off()
        network.disconnect(self.lab, self.spec.name, self.spec.address)
        shutil.rmtree(self.home, ignore_errors=True)

    def _children(self) -> list[int]:
        pid = self.process.pid
        return [int(word) for word in run("pgrep", "-P", str(pid), check=False).stdout.split()] if pid else []

    def _greets(self) -> bool:
        if not self.running:
            raise LabError(f"{self.spec.name} died while booting; its console is in {self.home}/console.log.")
        try:
            with socket.create_connection((self.spec.address, 22), timeout=1) as connection:
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False

    def _furnish(self) -> None:
        """What an installer would have written: name, keys, apt sources, an empty machine id."""
        etc = self.root / "etc"
        name = self.spec.name
        (etc / "hostname").write_text(f"{name}\n")
        # Without its own name in hosts every look-up waits for DNS, and SGLang starts 20 s later.
        (etc / "hosts").write_text(f"127.0.0.1 localhost\n127.0.1.1 {name}\n::1 localhost\n")
        (etc / "machine-id").write_text("")
        (etc / "resolv.conf").unlink(missing_ok=True)
        (etc / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
        ssh = self.root / "root/.ssh"
        ssh.mkdir(mode=0o700, exist_ok=True)
        (ssh / "authorized_keys").write_text(public_key())
        (ssh / "authorized_keys").chmod(0o600)
        mirror.write_sources(self.root, self.spec.suite)
        # The timers of a fresh install would take the dpkg lock at a moment of their own.
        for timer in ("apt-daily", "apt-daily-upgrade"):
            (etc / f"systemd/system/{timer}.timer").symlink_to("/dev/null")


def public_key() -> str:
    with locked(KEY.with_suffix(".lock")):
        if not KEY.exists():
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "inferops-lab", "-f", KEY)
    return KEY.with_suffix(".pub").read_text()


def known_machines(lab: int) -> list[Machine]:
    """Every host that was ever made in a lab and not destroyed."""
    found = []
    for path in sorted((lab_directory(lab) / "hosts").glob("*/spec.json")):
        found.append(Machine(lab, Spec(**json.loads(Path(path).read_text()))))
    return found
