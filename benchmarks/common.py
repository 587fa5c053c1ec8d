# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks share."""

from __future__ import annotations

import json
import os
from typing import Any


def report(name: str, figures: dict[str, Any], goal: str, met: bool) -> None:
    """Print the last line of a benchmark: one JSON object. `met` is measured, never assumed."""
    busy = round(os.getloadavg()[2], 1)  # a figure taken beside other work is worth less
    print(json.dumps({"name": name, "figures": {**figures, "load_15_min": busy}, "goal": goal, "met": met}))
