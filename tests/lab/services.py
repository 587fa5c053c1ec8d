# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services that a lab's hosts talk to, run on the controller's end of the bridge."""

from __future__ import annotations

import sys
from pathlib import Path

from lab import models, network
from lab.places import lab_directory
from lab.shell import LabError, Process, wait_for

PORT, CDN_PORT = 8090, 8091


class Hub:
    """The Hugging-Face-shaped hub (tests/hub) with the lab's models."""

    def __init__(self, lab: int) -> None:
        self.lab = lab
        self.home = lab_directory(lab) / "hub"
        self.process = Process(self.home / "pid")

    def up(self) -> str:
        """Start it, or find it running; returns its address."""
        address = network.gateway(self.lab)
        if not self.process.pid:
            self.home.mkdir(parents=True, exist_ok=True)
            self.process.start(
                sys.executable, "-m", "hub", "--root", str(models.build()), "--host", address,
                "--port", str(PORT), "--cdn-port", str(CDN_PORT), log=self.home / "hub.log",
            )  # fmt: skip
            if not wait_for(self._ready, 20):
                raise LabError(f"The hub did not start; its output is in {self.home}/hub.log.")
        return f"http://{address}:{PORT}"

    def _ready(self) -> bool:
        return "hub: http" in Path(self.home / "hub.log").read_text(errors="replace")


HUB = Hub
