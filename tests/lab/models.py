# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small models for the hub, made from seeds: nothing is downloaded."""

from __future__ import annotations

from pathlib import Path

from lab.places import CACHE


def build() -> Path:
    path = CACHE / "models" / "none"
    path.mkdir(parents=True, exist_ok=True)
    return path
