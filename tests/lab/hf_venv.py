# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hub's own command line, `hf`, as a venv at /opt/hf: what a user would run instead of model_download."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lab import builder
from lab.places import CACHE, content_key
from lab.shell import locked

REQUIREMENT = "huggingface_hub==2.4.0"
PREFIX = "/opt/hf"


def build(suite: str) -> Path:
    path = CACHE / "hf-venv" / f"{suite}-{content_key(suite, REQUIREMENT, PREFIX)}"
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            staged = path.with_suffix(".new")
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir(parents=True)
            builder.build(
                suite,
                f"python3 -m venv {PREFIX} && {PREFIX}/bin/pip install -qq --no-cache-dir '{REQUIREMENT}'",
                binds={staged: PREFIX},
            )
            os.replace(staged, path)
    return path
