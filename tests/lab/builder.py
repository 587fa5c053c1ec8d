# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a build inside a suite's root file system, so that its interpreter and libraries are the hosts' own."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from lab import rootfs
from lab.places import CACHE, content_key
from lab.shell import locked, run


def root(suite: str) -> Path:
    """An unpacked root file system to build in; it is never booted."""
    path = CACHE / "builder" / f"{suite}-{content_key(suite, *rootfs.PACKAGES)}"
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            staged = path.with_suffix(".new")
            shutil.rmtree(staged, ignore_errors=True)
            rootfs.unpack(suite, staged)
            os.replace(staged, path)
    return path


def build(suite: str, script: str, binds: dict[Path, str], read_only: dict[Path, str] | None = None) -> str:
    """Run a shell script in the root file system, with this machine's network and pip settings."""
    options = [f"--bind={source}:{target}" for source, target in binds.items()]
    options += [f"--bind-ro={source}:{target}" for source, target in (read_only or {}).items()]
    options += [f"--bind-ro={path}" for path in _pip_paths()]
    # The machine's /tmp is a small tmpfs; a wheel of torch alone fills it.
    options += ["--setenv=TMPDIR=/var/tmp"]
    options += [f"--setenv={key}={value}" for key, value in os.environ.items() if key.startswith("PIP_")]
    return run(
        "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--pipe", "--ephemeral",
        f"--directory={root(suite)}", "--resolv-conf=replace-host", "--timezone=off",
        *options, "/bin/bash", "-euo", "pipefail", "-c", script,
        env={**os.environ, "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1"},
    ).stdout  # fmt: skip


def _pip_paths() -> list[Path]:
    """pip's configuration on this machine, and every local file or directory it names."""
    files = [Path("/etc/pip.conf"), Path("/etc/xdg/pip/pip.conf"), Path("/etc/ssl/certs/ca-certificates.crt")]
    found = {path for path in files if path.exists()}
    text = run("python3", "-m", "pip", "config", "list").stdout + " ".join(
        value for key, value in os.environ.items() if key.startswith("PIP_")
    )
    for word in re.findall(r"(?:file://)?(/[^\s'\"]+)", text):
        path = Path(word)
        if path.exists() and path.parts[1] not in ("dev", "proc", "sys"):
            found.add(path)
    return sorted(found)
