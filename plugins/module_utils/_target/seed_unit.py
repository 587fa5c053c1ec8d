# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The seed program as a transient systemd unit: started for a play, gone by itself when nobody asks any more.

It runs as a user that exists only while it runs, may read everything and write nothing. What it needs lies in a
directory of mode 0700 below /run: the program, and the digests of the keys of the plays that may use it.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import errno
import hashlib
import http.client
import inspect
import io
import json
import os
import secrets
import shutil
import socket
import sys
import time
import zipfile
from types import ModuleType
from typing import Any, Callable

from ansible_collections.inferops.sglang.plugins.module_utils._core.swarm import offers, pace, plan
from ansible_collections.inferops.sglang.plugins.module_utils._target import seed_program

RUNTIME_ROOT = "/run/inferops-model-seed"
START_SECONDS = 15.0


class SeedFailed(Exception):  # noqa: N818  reads better where it is raised
    """Why this host cannot give files to others, and the way out."""


class SeedUnit:
    """The seed of one model directory. *run_command* is AnsibleModule.run_command."""

    def __init__(self, run_command: Callable[..., Any], path: str) -> None:
        self._run_command = run_command
        self._path = os.path.realpath(path)
        identity = hashlib.sha256(self._path.encode()).hexdigest()[:12]
        self.units = f"inferops-model-seed-{identity}-*.service"
        self._runtime = os.path.join(RUNTIME_ROOT, identity)

    def start(self, address: str, ports: range, bytes_per_second: int, key_digest: str) -> str:
        """Start it, or let one that runs also open for the key with *key_digest*; returns "address:port"."""
        note = self._read("unit.json", {})
        purpose = [address, bytes_per_second, program_id()]
        if note.get("purpose") == purpose and _answers(address, note["port"]):
            self._write("allowed.json", json.dumps(sorted({*self._read("allowed.json", []), key_digest})))
            return _joined(address, note["port"])
        self.stop()
        os.makedirs(self._runtime, mode=0o700)
        os.chmod(RUNTIME_ROOT, 0o700)
        self._write("allowed.json", json.dumps([key_digest]))
        with open(os.path.join(self._runtime, "seed.pyz"), "wb") as stream:
            stream.write(program())
        port = _free_port(address, ports)
        self._launch(address, port, bytes_per_second)
        self._write("unit.json", json.dumps({"purpose": purpose, "port": port}))
        return _joined(address, port)

    def stop(self) -> None:
        self._run_command(["systemctl", "stop", self.units])
        self._run_command(["systemctl", "reset-failed", self.units])
        shutil.rmtree(self._runtime, ignore_errors=True)

    def _launch(self, address: str, port: int, bytes_per_second: int) -> None:
        unit = self.units.replace("*", secrets.token_hex(4))
        command = [
            "systemd-run",
            "--quiet",
            "--collect",
            f"--unit={unit}",
            f"--description=Files of {self._path} for the other hosts of a play",
            "--property=DynamicUser=yes",
            "--property=AmbientCapabilities=CAP_DAC_READ_SEARCH",
            "--property=CapabilityBoundingSet=CAP_DAC_READ_SEARCH",
            "--property=RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
            "--property=Nice=5",
            "--",
            sys.executable,
            "-I",
            os.path.join(self._runtime, "seed.pyz"),
            address,
            str(port),
            self._path,
            os.path.join(self._runtime, "allowed.json"),
            str(bytes_per_second),
        ]
        status, _out, err = self._run_command(command)
        if status != 0:
            raise SeedFailed(f"systemd does not start {unit}: {err.strip()}")
        deadline = time.monotonic() + START_SECONDS
        while not _answers(address, port):
            if time.monotonic() > deadline:
                raise SeedFailed(
                    f"The program that gives files to other hosts did not answer at {_joined(address, port)} within "
                    f"{START_SECONDS:.0f} s: see journalctl -u {unit}"
                )
            time.sleep(0.05)

    def _read(self, name: str, otherwise: Any) -> Any:
        try:
            with open(os.path.join(self._runtime, name), encoding="utf-8") as stream:
                return json.load(stream)
        except (OSError, ValueError):
            return otherwise

    def _write(self, name: str, text: str) -> None:
        path = os.path.join(self._runtime, name)
        descriptor = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(path + ".new", path)


def program() -> bytes:
    """The seed program and what it imports, as one file that Python runs."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        packages: set[str] = set()
        for module in (plan, offers, pace, seed_program):
            parts = module.__name__.split(".")
            packages.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
            _add(archive, "/".join(parts) + ".py", _source(module))
        for package in sorted(packages):
            _add(archive, f"{package}/__init__.py", "")
        _add(archive, "__main__.py", f"from {seed_program.__name__} import main\n\nmain()\n")
    return packed.getvalue()


def program_id() -> str:
    """Changes with the program, so that an update of the collection does not talk to an old one."""
    return hashlib.sha256(program()).hexdigest()[:12]


def _add(archive: zipfile.ZipFile, name: str, text: str) -> None:
    archive.writestr(zipfile.ZipInfo(name), text)  # with a fixed time, so that equal content is an equal file


def _source(module: ModuleType) -> str:
    return inspect.getsource(module)


def _free_port(address: str, ports: range) -> int:
    """The first port of *ports* that nobody listens at; also the proof that the address is this host's."""
    try:
        family, _type, _protocol, _name, found = socket.getaddrinfo(address, None, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise SeedFailed(f"{address!r} is not an address: {error}") from None
    if str(found[0]) != address and str(found[0]).startswith(("127.", "::1")):
        # Debian gives a host's own name such an address in /etc/hosts.
        raise SeedFailed(
            f"{address} is {found[0]} on this host, where no other can reach it: give an address instead of a name"
        )
    for port in ports:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError as error:
                if error.errno == errno.EADDRNOTAVAIL:
                    raise SeedFailed(
                        f"{address} is not an address of this host: name the one under which the other hosts of the "
                        "play reach it"
                    ) from None
                continue
            return port
    raise SeedFailed(f"Every port from {ports[0]} to {ports[-1]} of {address} is taken: name others")


def _answers(address: str, port: int) -> bool:
    connection = http.client.HTTPConnection(address, port, timeout=2)
    try:
        connection.request("GET", "/have")
        return (connection.getresponse().getheader("Server") or "").startswith(seed_program.Handler.server_version)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _joined(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
