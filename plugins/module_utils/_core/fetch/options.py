# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How aria2c is told to work: the options of the session and of each file.

Every option stands here because its default is wrong for hundreds of gigabytes behind expiring addresses; the
manual is https://aria2.github.io/manual/en/html/aria2c.html#options.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Mapping

MAX_CONNECTIONS = 16  # aria2's own limit for --max-connection-per-server


@dataclass(frozen=True)
class Settings:
    """What the operator decides about a session. *proxies* are addresses by scheme, and under "no" the hosts that are
    reached without one, with commas between them."""

    executable: str
    connections: int
    parallel_files: int
    validate_certs: bool = True
    ca_path: str = ""
    bytes_per_second: int = 0  # of all files together; 0 is no limit
    proxies: Mapping[str, str] = field(default_factory=dict)


def session_conf(secret: str, port: int, settings: Settings) -> str:
    """The text of the configuration file; it holds the secret, so it is written with mode 0600.

    Given by --conf-path, it also keeps aria2 from reading a user's own configuration.
    """
    options = {
        "enable-rpc": "true",
        "rpc-listen-all": "false",
        "rpc-listen-port": str(port),
        "rpc-secret": secret,
        **session_limits(settings.parallel_files, settings.bytes_per_second),
        # A token must not come from, nor an address go to, places that the operator did not name.
        "no-netrc": "true",
        "quiet": "true",
        "follow-torrent": "false",
        "follow-metalink": "false",
        # A finished file is never written twice under another name, a half one is never taken for finished.
        "auto-file-renaming": "false",
        "allow-overwrite": "true",
        "continue": "true",
        "always-resume": "false",
        # Without reservation a file that was cut off is rarely as long as a finished one.
        "file-allocation": "none",
        # What arrives after the last save is fetched again after a power cut; a save is a kilobyte a file.
        "auto-save-interval": "1",
        "max-download-result": "100000",
        # With a cache aria2 aborts where an origin ignores the range of a piece under way (aria2 issues 1556, 2384).
        "disk-cache": "0",
        # aria2 tries the same address again a few times; a fresh address and patience are the driver's work.
        "max-tries": "3",
        "retry-wait": "2",
        "connect-timeout": "15",
        "timeout": "30",
        "min-split-size": "1M",
        "check-certificate": "true" if settings.validate_certs else "false",
        **_proxy_options(settings.proxies),
    }
    if settings.ca_path:
        options["ca-certificate"] = settings.ca_path
    return "".join(f"{name}={value}\n" for name, value in options.items())


def session_limits(parallel_files: int, bytes_per_second: int) -> dict[str, str]:
    """The options that a running session can be told anew."""
    return {
        "max-concurrent-downloads": str(parallel_files),
        "max-overall-download-limit": str(bytes_per_second),
    }


def _proxy_options(proxies: Mapping[str, str]) -> dict[str, str]:
    direct = [name.strip() for name in proxies.get("no", "").split(",") if name.strip()]
    if "*" in direct:
        return {}
    options = {f"{scheme}-proxy": proxies[scheme] for scheme in ("http", "https") if proxies.get(scheme)}
    if options and direct:
        # In aria2 a name stands for itself, and one with a dot in front for what is below it; elsewhere it is both.
        both = [form for name in direct for form in (name.lstrip("."), f".{name.lstrip('.')}")]
        options["no-proxy"] = ",".join(both)
    return options


def file_options(gid: str, directory: str, path: str, connections: int) -> dict[str, str]:
    return {
        "gid": gid,
        "dir": directory,
        "out": path,
        "split": str(connections),
        "max-connection-per-server": str(connections),
    }


def gid_of(commit: str, path: str) -> str:
    """The name of one file's download in the session: always the same, so that a later run finds it again."""
    return hashlib.sha256(f"{commit}\0{path}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
