# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real apt for hosts without a network: a caching proxy in front of the mirror that this machine itself uses."""

from __future__ import annotations

import socket
from pathlib import Path

from lab import network
from lab.places import CACHE, SERVICES_ADDRESS
from lab.shell import LabError, Process, locked, run, wait_for

PORT = 3142
_HOME = CACHE / "apt-proxy"
_PROXY = Process(_HOME / "pid")


def machine_mirror() -> str:
    """The Debian archive in this machine's own apt sources, e.g. `http://mirror.example/debian`."""
    listing = run("apt-get", "indextargets", "--format", "$(ORIGIN)|$(LABEL)|$(REPO_URI)").stdout
    for line in listing.splitlines():
        origin, label, uri = line.split("|")
        if (origin, label) == ("Debian", "Debian"):
            return uri.rstrip("/")
    raise LabError(
        "This machine's apt knows no Debian archive. Run `apt-get update` with a Debian mirror configured, then try again."
    )


def hosts_mirror() -> str:
    """The same archive as the hosts see it, through the proxy."""
    scheme, _, rest = machine_mirror().partition("://")
    return f"http://{SERVICES_ADDRESS}:{PORT}/{'HTTPS///' if scheme == 'https' else ''}{rest}"


def open_proxy() -> None:
    """Start the proxy if it is not running; its cache outlives every lab."""
    with locked(_HOME / "lock"):
        network.open_services_address()
        if _PROXY.pid:
            return
        configuration = _HOME / "conf"
        configuration.mkdir(parents=True, exist_ok=True)
        (configuration / "acng.conf").write_text(
            f"CacheDir: {_HOME}/cache\nLogDir: {_HOME}/log\nPort: {PORT}\nBindAddress: {SERVICES_ADDRESS}\n"
            "SocketPath:\nPidFile:\nForeGround: 1\nExThreshold: 30\nReportPage:\nSupportDir: /usr/lib/apt-cacher-ng\n"
        )
        for name in ("cache", "log"):
            (_HOME / name).mkdir(exist_ok=True)
        _PROXY.start("/usr/sbin/apt-cacher-ng", "-c", configuration, log=_HOME / "proxy.log")
        if not wait_for(_answers, 15):
            raise LabError(
                f"The apt proxy does not answer on {SERVICES_ADDRESS}:{PORT}; its output is in {_HOME}/proxy.log."
            )


def close_proxy() -> None:
    _PROXY.stop()
    network.close_services_address()


def _answers() -> bool:
    try:
        socket.create_connection((SERVICES_ADDRESS, PORT), timeout=1).close()
    except OSError:
        return False
    return True


def write_sources(root: Path, suite: str) -> None:
    """Point a host's apt at the proxy."""
    for old in (root / "etc/apt/sources.list", *(root / "etc/apt/sources.list.d").glob("*")):
        old.unlink(missing_ok=True)
    (root / "etc/apt/sources.list.d/debian.sources").write_text(
        f"Types: deb\nURIs: {hosts_mirror()}\nSuites: {suite} {suite}-updates\nComponents: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
    )
