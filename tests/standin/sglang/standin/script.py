# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What one run of the stand-in shall do: `SGLANG_STANDIN_SCRIPT` names a JSON file, or is the JSON text itself."""

from __future__ import annotations

import dataclasses
import json
import os
from typing import Any


@dataclasses.dataclass(frozen=True)
class Script:
    """The cues. README.md explains each field; the defaults are a good start of a few seconds."""

    speed: float = 1.0
    shards: int = 4
    fault: str = ""
    phase: str = "weights"
    ranks: tuple[int, ...] = (0,)
    after_requests: int = 0
    cured_by: tuple[str, ...] = ()
    traceback: tuple[str, ...] = ()
    obituary_first: bool = False
    answer: str = "OK"
    reasoning: str = ""
    latency_seconds: float = 0.02
    seconds_per_token: float = 0.003
    bind_hang_seconds: float = 120.0
    replay: str = ""
    exit_status: int = 137

    @staticmethod
    def load() -> Script:
        """Read the script from the environment; unknown fields are an error, so that a test cannot misspell one."""
        source = os.environ.get("SGLANG_STANDIN_SCRIPT", "")
        if source and not source.lstrip().startswith("{"):
            with open(source, encoding="utf-8") as handle:
                source = handle.read()
        fields: dict[str, Any] = json.loads(source or "{}")
        if "SGLANG_STANDIN_SPEED" in os.environ:
            fields["speed"] = float(os.environ["SGLANG_STANDIN_SPEED"])
        for name in ("ranks", "cured_by", "traceback"):
            if name in fields:
                fields[name] = tuple(fields[name])
        return Script(**fields)

    def armed(self, argv: list[str]) -> bool:
        """True where a fault is set and no argument that cures it is given."""
        return bool(self.fault) and not any(cure in " ".join(argv) for cure in self.cured_by)
