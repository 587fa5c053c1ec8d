# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is built once and shared by hosts: the real SGLang venv, the libcuda stub, the stand-in's
venv, the hub's own command line.

Each builder returns a directory in the cache, named after the content it was built from.
An inventory asks for them by name: `lab_artifacts: {/opt/sglang/venv: sglang-venv}`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lab import hf_venv, libcuda, sglang_venv, standin_venv

BUILDERS: dict[str, Callable[[str], Path]] = {
    "sglang-venv": sglang_venv.build,
    "libcuda-stub": libcuda.build,
    "standin-venv": standin_venv.build,
    "hf-venv": hf_venv.build,
}
