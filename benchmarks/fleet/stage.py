# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage: four hosts on a bridge, and a hub whose end of the bridge sends at a limited rate."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from lab import mirror, models, network
from lab.inventory import write_resolved
from lab.machine import KEY, Machine, Spec
from lab.places import CACHE, PROJECT, lab_directory, lab_number
from lab.shell import LabError, Process, run, wait_for

PORT, CDN_PORT = 8090, 8091
HOSTS = ["fleet-01", "fleet-02", "fleet-03", "fleet-04"]
REPOSITORY = "bench/fleet"
SHARDS, TENSORS, TENSOR_BYTES = 8, 4, 16 << 20
RATE = "160mbit"
# Memory, so that the disk of this machine, which the hosts share, is not measured.
TARGET = "/srv/bench"


class Stage:
    def __init__(self) -> None:
        self.lab = lab_number()
        self.machines = [
            Machine(self.lab, Spec(name, f"10.77.{self.lab}.{31 + number}")) for number, name in enumerate(HOSTS)
        ]
        self.url = f"http://{network.gateway(self.lab)}:{PORT}"
        self.model_bytes = 0
        self._hub = Process(lab_directory(self.lab) / "bench-hub" / "pid")
        self._inventory = lab_directory(self.lab) / "inventory.json"

    def __enter__(self) -> Stage:
        mirror.open_proxy()
        network.open_bridge(self.lab)
        self._start_hub()
        for machine in self.machines:
            machine.up()
            self.ssh(machine, "apt-get update -qq && apt-get install -y -qq aria2 >/dev/null 2>&1")
            self.ssh(machine, f"mkdir -p {TARGET} && mount -t tmpfs -o size=1G bench {TARGET}")
        write_resolved(self._inventory, [machine.spec for machine in self.machines])
        # What the hub sends goes through the bridge's own queue; what one host sends another does not.
        run("tc", "qdisc", "replace", "dev", network.bridge(self.lab), "root", "tbf", "rate", RATE, "burst", "256kb",
            "latency", "50ms")  # fmt: skip
        return self

    def __exit__(self, *_error: object) -> None:
        self._hub.stop()
        for machine in self.machines:
            machine.destroy()
        network.close_bridge(self.lab)
        shutil.rmtree(lab_directory(self.lab), ignore_errors=True)

    def ssh(self, machine: Machine, command: str) -> str:
        options = ("-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR")
        return run("ssh", "-i", KEY, *options, f"root@{machine.spec.address}", command).stdout

    def clear(self, hosts: list[str]) -> None:
        for machine in self.machines:
            if machine.spec.name in hosts:
                self.ssh(machine, f"find {TARGET} -mindepth 1 -delete; systemctl stop 'inferops-model-seed-*'")

    def playbook(self, play: Path, hosts: list[str], variables: dict[str, Any]) -> None:
        run(
            "ansible-playbook", "-i", self._inventory, "--limit", ",".join(hosts), "-e", json.dumps(variables), play,
            cwd=PROJECT,
        )  # fmt: skip

    def check(self, hosts: list[str]) -> None:
        """Every shard on every host is what the hub lists; a measurement of anything else is worth nothing."""
        items = self._ask("GET", f"/api/models/{REPOSITORY}/tree/main")
        digests = {item["path"]: item["lfs"]["oid"] for item in items if "lfs" in item}
        for machine in self.machines:
            if machine.spec.name in hosts:
                lines = self.ssh(machine, f"cd {TARGET}/model && sha256sum *.safetensors").splitlines()
                found = {line.split()[1]: line.split()[0] for line in lines}
                if found != digests:
                    raise LabError(f"{machine.spec.name} does not have the files that the hub lists.")

    def forget_requests(self) -> None:
        self._ask("DELETE", "/_hub/requests")

    def origin_bytes(self) -> int:
        counts = self._ask("GET", "/_hub/requests")["counts"]
        return int(counts["cdn_bytes"] + counts["hub_bytes"])

    def _ask(self, method: str, path: str) -> Any:
        with urlopen(Request(self.url + path, method=method)) as answer:
            return json.load(answer)

    def _start_hub(self) -> None:
        root = CACHE / "bench-fleet"
        model = root / REPOSITORY
        if not model.exists():
            models.write_shards(model.with_suffix(".new"), SHARDS, TENSORS, TENSOR_BYTES)
            model.with_suffix(".new").rename(model)
        self.model_bytes = sum(file.stat().st_size for file in model.iterdir())
        home = lab_directory(self.lab) / "bench-hub"
        home.mkdir(parents=True, exist_ok=True)
        log = home / "hub.log"
        log.unlink(missing_ok=True)
        self._hub.start(
            sys.executable, "-m", "hub", "--root", str(root), "--host", network.gateway(self.lab),
            "--port", str(PORT), "--cdn-port", str(CDN_PORT), log=log,
        )  # fmt: skip
        if not wait_for(lambda: log.exists() and "hub: http" in log.read_text(errors="replace"), 60):
            raise LabError(f"The hub did not start; its output is in {log}.")
        self._ask("GET", f"/api/models/{REPOSITORY}/tree/main")  # hashes the model once, before anything is timed
