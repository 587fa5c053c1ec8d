# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage: one host, and the hub on the bridge with models made for the measurement."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from lab import mirror, models, network
from lab.machine import KEY, Machine, Spec
from lab.places import CACHE, lab_directory, lab_number
from lab.shell import LabError, Process, run, wait_for

PORT, CDN_PORT = 8090, 8091
HERE = Path(__file__).parent
# Memory, so that neither the disk of this machine nor its cache is measured.
TARGET = "/srv/bench"


class Stage:
    def __init__(self) -> None:
        self.lab = lab_number()
        self.machine = Machine(self.lab, Spec("bench-01", f"10.77.{self.lab}.31", artifacts={"/opt/hf": "hf-venv"}))
        self.url = f"http://{network.gateway(self.lab)}:{PORT}"
        self._hub = Process(lab_directory(self.lab) / "bench-hub" / "pid")

    def __enter__(self) -> Stage:
        mirror.open_proxy()
        network.open_bridge(self.lab)
        self.machine.up()
        self._start_hub()
        self.ssh(
            "command -v aria2c >/dev/null || { apt-get update -qq && apt-get install -y -qq aria2; } >/dev/null 2>&1"
        )
        self.ssh(f"mkdir -p {TARGET} && mount -t tmpfs -o size=6G,strictatime bench {TARGET}")
        for name in ("measured.py", "hashed.py"):
            self.put(f"/root/{name}", (HERE / name).read_bytes())
        return self

    def __exit__(self, *_error: object) -> None:
        self._hub.stop()
        self.machine.destroy()
        network.close_bridge(self.lab)

    def ssh(self, command: str) -> str:
        options = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR")
        return run("ssh", "-i", KEY, *options, f"root@{self.machine.spec.address}", command).stdout

    def put(self, path: str, content: bytes) -> None:
        (self.machine.root / path.lstrip("/")).write_bytes(content)

    def time(self, command: str) -> dict[str, Any]:
        """Run *command* on the host into an empty target; a command that fails ends the measurement."""
        self.put("/root/command", command.encode())
        result = json.loads(self.ssh('python3 /root/measured.py "$(cat /root/command)"'))
        if result["status"] != 0:
            raise LabError(f"`{command[:200]}` ended with {result['status']}:\n{result['output']}")
        return dict(result)

    def clear(self) -> None:
        """An empty target, in memory that the machine below has already handed out: its first use is slow."""
        self.ssh(
            f"find {TARGET} -mindepth 1 -delete; head -c 3500M /dev/zero >{TARGET}/warm; rm {TARGET}/warm; rm -rf /root/.cache"
        )

    def pace(self, bytes_per_second: int | None) -> None:
        """Hold each connection to the CDN to so many bytes a second; None lifts the limit."""
        self._ask("DELETE", "/_hub/faults")
        if bytes_per_second:
            rule = {"kind": "paced", "origin": "cdn", "count": -1, "bytes_per_second": bytes_per_second}
            self._ask("POST", "/_hub/faults", [rule])

    def listing(self, repository: str) -> list[dict[str, Any]]:
        return [item for item in self._ask("GET", f"/api/models/{repository}/tree/main") if item["type"] == "file"]

    def requests(self) -> dict[str, int]:
        return dict(self._ask("GET", "/_hub/requests")["counts"])

    def forget_requests(self) -> None:
        self._ask("DELETE", "/_hub/requests")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.url + path, data, method=method)) as answer:
            return json.load(answer)

    def _start_hub(self) -> None:
        root = CACHE / "bench" / "download-models"
        for name, shards, tensors, tensor_bytes in (("twelve", 12, 5, 25_000_000), ("many", 64, 1, 1_000_000)):
            if not (root / "bench" / name / "config.json").exists():
                models.write_shards(root / "bench" / name, shards, tensors, tensor_bytes)
        log = self._hub.record.with_name("hub.log")
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("")
        command = (sys.executable, "-m", "hub", "--root", root, "--host", network.gateway(self.lab))
        self._hub.start(*command, "--port", str(PORT), "--cdn-port", str(CDN_PORT), log=log)
        if not wait_for(lambda: "hub: http" in log.read_text(), 20):
            raise LabError(f"The hub did not start; its output is in {log}.")
        for name in ("twelve", "many"):  # hashes every file, which must not be part of a measurement
            self.listing(f"bench/{name}")
