# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Root file systems: a tarball per suite and package list, unpacked once per host."""

from __future__ import annotations

import os
from pathlib import Path

from lab import mirror
from lab.places import CACHE, content_key
from lab.shell import locked, run

# What any server install brings. Compilers, headers and aria2 are left out: bringing them is the roles' work.
PACKAGES = (
    "ca-certificates", "curl", "dbus", "iproute2", "openssh-server", "procps", "python3", "python3-apt",
    "python3-venv", "rsync", "sudo", "systemd", "systemd-sysv", "zstd",
)  # fmt: skip
SUITES = ("bookworm", "trixie")


def tarball(suite: str) -> Path:
    """Build the suite's tarball, or find it in the cache."""
    path = CACHE / "rootfs" / f"{suite}-{content_key(suite, *PACKAGES)}.tar"
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            print(f"lab: building the {suite} root file system", flush=True)
            mirror.open_proxy()
            staged = path.with_suffix(".new.tar")
            run(
                "mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(PACKAGES)}",
                suite, staged, f"deb {mirror.hosts_mirror()} {suite} main",
            )  # fmt: skip
            os.replace(staged, path)
    return path


def unpack(suite: str, root: Path) -> None:
    root.mkdir(parents=True)
    run("tar", "--extract", "--numeric-owner", f"--file={tarball(suite)}", f"--directory={root}")
