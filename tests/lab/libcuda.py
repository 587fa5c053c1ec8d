# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A libcuda.so.1 whose every function answers CUDA_ERROR_NO_DEVICE: sgl_kernel links against it even on a CPU."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lab.places import CACHE, content_key
from lab.shell import locked, run

SOURCE = Path(__file__).with_name("libcuda_stub.c")


def build(_suite: str) -> Path:
    """Compile the stub; it needs no C library, so one file serves every suite."""
    path = CACHE / "libcuda-stub" / content_key(SOURCE.read_bytes())
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            staged = path.with_suffix(".new")
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir(parents=True)
            run(
                "gcc",
                "-shared",
                "-fPIC",
                "-nostdlib",
                "-Wl,-soname,libcuda.so.1",
                "-o",
                staged / "libcuda.so.1",
                SOURCE,
            )
            os.replace(staged, path)
    return path
