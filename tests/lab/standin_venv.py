# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A venv with the stand-in SGLang of tests/standin, started exactly like the real one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lab import builder
from lab.places import CACHE, PROJECT, content_key
from lab.shell import locked

SOURCE = PROJECT / "tests" / "standin"
PREFIX = "/opt/sglang/venv"


def build(suite: str) -> Path:
    files = sorted(path for path in SOURCE.rglob("*") if path.is_file() and path.suffix != ".pyc")
    key = content_key(
        suite, PREFIX, *(part for path in files for part in (str(path.relative_to(SOURCE)), path.read_bytes()))
    )
    path = CACHE / "standin-venv" / f"{suite}-{key}"
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            staged = path.with_suffix(".new")
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir(parents=True)
            builder.build(suite, f"python3 -m venv --without-pip {PREFIX}", binds={staged: PREFIX})
            packages = next(staged.glob("lib/python3.*/site-packages"))
            for entry in SOURCE.iterdir():
                if entry.is_dir() and entry.name != "__pycache__":
                    shutil.copytree(entry, packages / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
            os.replace(staged, path)
    return path
