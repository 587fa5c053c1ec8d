# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A venv with the stand-in SGLang of tests/standin, started exactly like the real one."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from pathlib import Path

from lab import builder
from lab.places import CACHE, PROJECT, content_key
from lab.shell import locked, run

SOURCE = PROJECT / "tests" / "standin"
PREFIX = "/opt/sglang/venv"
PY_SPY = "py-spy==0.4.3"  # the one that SGLang 0.5.23 brings along


def build(suite: str) -> Path:
    files = sorted(path for path in SOURCE.rglob("*") if path.is_file() and path.suffix != ".pyc")
    key = content_key(
        suite, PREFIX, PY_SPY, *(part for path in files for part in (str(path.relative_to(SOURCE)), path.read_bytes()))
    )
    path = CACHE / "standin-venv" / f"{suite}-{key}"
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            staged = path.with_suffix(".new")
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir(parents=True)
            builder.build(suite, f"python3 -m venv --without-pip {PREFIX}", binds={staged: PREFIX})
            _put_py_spy(staged / "bin")
            packages = next(staged.glob("lib/python3.*/site-packages"))
            for entry in SOURCE.iterdir():
                if entry.is_dir() and entry.name != "__pycache__":
                    shutil.copytree(entry, packages / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
            os.replace(staged, path)
    return path


def _put_py_spy(directory: Path) -> None:
    """Its wheel is one binary without Python code; unpacking it here takes a second, a pip in the venv half a minute."""
    with tempfile.TemporaryDirectory() as downloads:
        run(
            "python3", "-m", "pip", "download", "-qq", "--no-deps", "--only-binary=:all:", f"--dest={downloads}", PY_SPY
        )
        with zipfile.ZipFile(next(Path(downloads).glob("*.whl"))) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith("scripts/py-spy"))
            (directory / "py-spy").write_bytes(wheel.read(name))
    (directory / "py-spy").chmod(0o755)
