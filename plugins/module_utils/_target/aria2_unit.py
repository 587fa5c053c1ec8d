# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""aria2c as a transient systemd unit: it outlives the module, the SSH session and the controller.

The secret stands in a file of mode 0600 in a directory of mode 0700 under /run, so neither argv nor the
environment shows it, and a reboot removes it together with the process.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import socket
import time
from dataclasses import replace
from typing import Any, Callable, Mapping

from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import (
    SessionLost,
    SourceFailed,
    TransferFailed,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import (
    Settings,
    file_options,
    session_conf,
    session_limits,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.rpc import Aria2, RpcError, Status
from ansible_collections.inferops.sglang.plugins.module_utils._target.web import Loopback

RUNTIME_ROOT = "/run/inferops-model-download"
START_SECONDS = 15.0
# A run that has not touched its session for this long is dead, and another may take the directory over.
HEARTBEAT_SECONDS = 60.0


class Aria2Unit:
    """One session for one model directory. *run_command* is AnsibleModule.run_command."""

    def __init__(
        self, run_command: Callable[..., Any], directory: str, staging: str, purpose: str, settings: Settings
    ) -> None:
        identity = hashlib.sha256(os.path.realpath(directory).encode()).hexdigest()[:12]
        self.units = f"inferops-model-download-{identity}-*.service"
        self._run_command = run_command
        self._directory = directory
        self._staging = staging
        self._purpose = purpose  # repository@commit
        self._settings = settings
        self._bytes_per_second = settings.bytes_per_second
        self._runtime = os.path.join(RUNTIME_ROOT, identity)
        self._aria2: Aria2 | None = None

    def attach(self) -> bool:
        """Find a running session of this very download, and tell it today's limits; True when there is one.

        One for another revision, or with another proxy or other certificates, is ended; what it brought stays.
        """
        note = self._note()
        if not note:
            return False
        if (note["purpose"], note["terms"]) != (self._purpose, self._terms()):
            self.stop()
            return False
        aria2 = Aria2(Loopback(note["port"]), note["secret"])
        try:
            aria2.change(session_limits(self._settings.parallel_files, self._bytes_per_second))
        except (OSError, RpcError):
            return False
        self._aria2 = aria2
        return True

    def limit(self, bytes_per_second: int) -> bool:
        """Let aria2 take so much from now on (0: everything); False where it does not run, and starts like that."""
        self._bytes_per_second = bytes_per_second
        with contextlib.suppress(SessionLost):
            self._quietly(lambda aria2: aria2.change({"max-overall-download-limit": str(bytes_per_second)}))
        return self._aria2 is not None

    def refuse_others(self) -> None:
        """Raises TransferFailed where a living run brings another model or revision into this directory."""
        note = self._note()
        alive = time.time() - note.get("beat", 0) < HEARTBEAT_SECONDS
        if note and alive and note["purpose"] != self._purpose:
            raise TransferFailed(
                f"Another run is downloading {note['purpose']} into {self._directory} right now: wait for it, "
                f"or end it with systemctl stop '{self.units}'"
            )

    def beat(self) -> None:
        note = self._note()
        if note.get("purpose") == self._purpose:
            self._write("session.json", json.dumps(dict(note, beat=time.time())))

    def downloads(self) -> Mapping[str, Status]:
        if self._aria2 is None:
            return {}
        try:
            return self._aria2.downloads()
        except (OSError, RpcError):
            self._aria2 = None
            raise SessionLost from None

    def add(self, gid: str, path: str, address: str) -> None:
        """Hand a file to aria2, starting it where it does not run yet."""
        try:
            aria2 = self._aria2 or self._start()
            aria2.add(address, file_options(gid, self._staging, path, self._settings.connections))
        except RpcError as error:
            raise SourceFailed(f"aria2c refuses it: {error}") from None
        except OSError:
            self._aria2 = None
            raise SessionLost from None

    def forget(self, gid: str) -> None:
        self._quietly(lambda aria2: aria2.forget(gid))

    def remove(self, gid: str) -> None:
        self._quietly(lambda aria2: aria2.remove(gid))

    def stop(self, at_once: bool = False) -> None:
        """End the session, whatever it was for; control files of unfinished files stay beside them.

        *at_once* spares the second that aria2 takes to write control files, for when all files are complete.
        """
        if at_once:
            self._run_command(["systemctl", "kill", "--signal=KILL", self.units])
        self._run_command(["systemctl", "stop", self.units])
        self._run_command(["systemctl", "reset-failed", self.units])
        shutil.rmtree(self._runtime, ignore_errors=True)
        self._aria2 = None

    def _quietly(self, call: Callable[[Aria2], None]) -> None:
        if self._aria2 is None:
            return
        try:
            call(self._aria2)
        except RpcError:
            pass  # aria2 has no such download any more, which is what was wanted
        except OSError:
            self._aria2 = None
            raise SessionLost from None

    def _start(self) -> Aria2:
        self.stop()
        secret, port = secrets.token_hex(32), _free_port()
        # Each start has a name of its own, because systemd may not yet have let go of a unit that was killed.
        unit = self.units.replace("*", secrets.token_hex(4))
        os.makedirs(self._runtime, mode=0o700)
        os.chmod(RUNTIME_ROOT, 0o700)
        settings = replace(self._settings, bytes_per_second=self._bytes_per_second)
        conf_path = self._write("aria2.conf", session_conf(secret, port, settings))
        note = {
            "purpose": self._purpose,
            "terms": self._terms(),
            "port": port,
            "secret": secret,
            "beat": time.time(),
        }
        self._write("session.json", json.dumps(note))
        command = [
            "systemd-run",
            "--quiet",
            "--collect",
            f"--unit={unit}",
            f"--description=Download of {self._purpose}",
            # Only messages before the configuration is read can be written, so no address reaches the journal.
            "--property=StandardOutput=null",
            "--property=NoNewPrivileges=yes",
            "--property=ProtectSystem=strict",
            f"--property=ReadWritePaths={_quoted(os.path.realpath(self._directory))}",
            "--property=UMask=0077",
            "--property=Nice=5",
            "--",
            settings.executable,
            f"--conf-path={conf_path}",
        ]
        status, _out, err = self._run_command(command)
        if status != 0:
            raise TransferFailed(f"systemd does not start aria2c as {unit}: {err.strip()}")
        self._aria2 = self._await(Aria2(Loopback(port), secret), unit)
        return self._aria2

    def _await(self, aria2: Aria2, unit: str) -> Aria2:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                aria2.version()
            except (OSError, RpcError):
                time.sleep(0.01)
                continue
            return aria2
        raise TransferFailed(
            f"aria2c did not answer within {START_SECONDS:.0f} s of its start: see journalctl -u {unit}"
        )

    def _terms(self) -> str:
        """Changes with everything that a running session cannot be told."""
        conf = session_conf("", 0, replace(self._settings, parallel_files=0, bytes_per_second=0))
        return hashlib.sha256(conf.encode()).hexdigest()

    def _note(self) -> dict[str, Any]:
        try:
            with open(os.path.join(self._runtime, "session.json"), encoding="utf-8") as stream:
                note = json.load(stream)
            return note if {"purpose", "terms", "port", "secret", "beat"} <= set(note) else {}
        except (OSError, ValueError, TypeError):
            return {}

    def _write(self, name: str, text: str) -> str:
        path = os.path.join(self._runtime, name)
        descriptor = os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.replace(path + ".new", path)
        return path


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _quoted(path: str) -> str:
    """One word of a systemd setting."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
