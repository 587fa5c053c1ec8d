# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real SGLang 0.5.23 as a venv at /opt/sglang/venv, from PyPI packages only."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lab import builder
from lab.places import CACHE, content_key
from lab.shell import locked

LOCK = Path(__file__).with_name("sglang-requirements.txt")
PREFIX = "/opt/sglang/venv"


def build(suite: str) -> Path:
    """Install the locked packages; 7.6 GB and about four minutes the first time."""
    key = content_key(suite, LOCK.read_bytes(), PREFIX)
    path = CACHE / "sglang-venv" / f"{suite}-{key}"
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            print("lab: installing SGLang 0.5.23 into a venv (7.6 GB, some minutes, once)", flush=True)
            staged = path.with_suffix(".new")
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir(parents=True)
            builder.build(
                suite,
                f"python3 -m venv {PREFIX}\n"
                # The lock is complete: resolving again would bring the GPU half that no CPU needs.
                f"{PREFIX}/bin/pip install -qq --no-deps --no-cache-dir --requirement /tmp/requirements.txt\n",
                binds={staged: PREFIX},
                read_only={LOCK: "/tmp/requirements.txt"},
            )
            os.replace(staged, path)
    return path
