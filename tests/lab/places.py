# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the lab keeps things: all of it below one cache directory of the user."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CACHE = Path.home() / ".cache" / "inferops-lab"

# Services that every lab shares (the apt proxy) answer here: an address on lo, so nothing leaves the machine.
SERVICES_ADDRESS = "10.77.255.1"


def lab_number() -> int:
    """The lab in use, from INFEROPS_LAB: 0 (`make demo`) unless said otherwise; 254 is the largest."""
    number = int(os.environ.get("INFEROPS_LAB", "0"))
    if not 0 <= number <= 254:
        raise SystemExit(f"INFEROPS_LAB is {number}; it chooses the subnet 10.77.<N>.0/24, so give 0 to 254.")
    return number


def lab_directory(number: int) -> Path:
    return CACHE / "labs" / str(number)


def content_key(*parts: str | bytes) -> str:
    """A short name for a content: what was built from the same parts is never built again."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else part.encode())
        digest.update(b"\0")
    return digest.hexdigest()[:12]
