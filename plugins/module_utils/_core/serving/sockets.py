# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose socket it is: listening sockets in /proc/net, and the processes that hold them.

A server on a taken port can log that it is ready because its warm-up spoke to the other one (measured, SGLang 0.5.23), so
the owner of the socket is asked, not the log.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Callable, Iterable, Union

_LISTEN = "0A"
_SOCKET = re.compile(r"socket:\[(\d+)\]$")
Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]


def listening_inodes(tables: Iterable[str], port: int) -> dict[str, str]:
    """Inode to local address (as /proc/net/tcp writes it) of every socket that listens on `port`."""
    found: dict[str, str] = {}
    wanted = f"{port:04X}"
    for table in tables:
        for line in table.splitlines()[1:]:
            fields = line.split()
            if len(fields) < 10 or fields[3] != _LISTEN:
                continue
            address, _colon, local_port = fields[1].rpartition(":")
            if local_port.upper() == wanted:
                found[fields[9]] = address
    return found


def holds_socket(pids: Iterable[int], inodes: Iterable[str], list_links: Callable[[int], Iterable[str]]) -> int | None:
    """The first of `pids` that holds one of the sockets; `list_links` gives the targets of a process's descriptors."""
    wanted = set(inodes)
    for pid in pids:
        for target in list_links(pid):
            found = _SOCKET.match(target)
            if found and found.group(1) in wanted:
                return pid
    return None


def decoded(address: str) -> Address:
    """The address behind the kernel's notation: words of 32 bits in the byte order of the host, little-endian here."""
    raw = bytes.fromhex(address)
    ordered = b"".join(raw[start : start + 4][::-1] for start in range(0, len(raw), 4))
    found = ipaddress.ip_address(ordered)
    return getattr(found, "ipv4_mapped", None) or found


def reachable_from_outside(address: str) -> bool:
    """False where a socket listens on loopback only (127.0.0.0/8 or ::1)."""
    return not decoded(address).is_loopback


def collides(address: str, host: str) -> bool:
    """True where a socket that listens on `address` keeps another one from listening on `host` at the same port.

    A host that is a name is taken for any address: it may resolve to whatever is taken.
    """
    try:
        wanted = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        return True
    taken = decoded(address)
    if wanted.version != taken.version:
        return taken == ipaddress.ip_address("::") or wanted == ipaddress.ip_address("::")
    return wanted == taken or wanted.is_unspecified or taken.is_unspecified
