# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One bridge a lab, one network namespace a host; nothing is routed off the machine."""

from __future__ import annotations

from lab.places import SERVICES_ADDRESS
from lab.shell import run


def bridge(number: int) -> str:
    return f"iolab{number}"


def namespace(number: int, host: str) -> str:
    return f"iolab{number}-{host}"


def gateway(number: int) -> str:
    return f"10.77.{number}.1"


def _exists(link: str) -> bool:
    return run("ip", "link", "show", link, check=False).returncode == 0


def open_services_address() -> None:
    """Give lo the address of the shared services; done once, harmless when it is there."""
    if SERVICES_ADDRESS not in run("ip", "-4", "addr", "show", "dev", "lo").stdout:
        run("ip", "addr", "add", f"{SERVICES_ADDRESS}/32", "dev", "lo")


def close_services_address() -> None:
    run("ip", "addr", "del", f"{SERVICES_ADDRESS}/32", "dev", "lo", check=False)


def open_bridge(number: int) -> None:
    if not _exists(bridge(number)):
        run("ip", "link", "add", bridge(number), "type", "bridge")
        run("ip", "addr", "add", f"{gateway(number)}/24", "dev", bridge(number))
        run("ip", "link", "set", bridge(number), "up")


def close_bridge(number: int) -> None:
    run("ip", "link", "del", bridge(number), check=False)


def connect(number: int, host: str, address: str, private: bool) -> None:
    """Give a host its namespace and cable.

    A private host reaches the controller and nothing else, like a reference machine behind another
    site's firewall: its address is a /32 and the bridge is the only neighbour it has a route to.
    """
    inside, last = namespace(number, host), address.rpartition(".")[2]
    outer, inner = f"iolab{number}v{last}", f"iolab{number}t{last}"
    run("ip", "netns", "add", inside)
    run("ip", "link", "add", outer, "type", "veth", "peer", "name", inner)
    run("ip", "link", "set", inner, "netns", inside)
    run("ip", "link", "set", outer, "master", bridge(number), "up")
    in_host = ("ip", "-n", inside)
    run(*in_host, "link", "set", inner, "name", "host0")
    run(*in_host, "link", "set", "lo", "up")
    run(*in_host, "addr", "add", f"{address}/{32 if private else 24}", "dev", "host0")
    run(*in_host, "link", "set", "host0", "up")
    if private:
        run(*in_host, "route", "add", gateway(number), "dev", "host0")
        run(*in_host, "route", "add", SERVICES_ADDRESS, "via", gateway(number))
    else:
        run(*in_host, "route", "add", "default", "via", gateway(number))


def disconnect(number: int, host: str, address: str) -> None:
    run("ip", "link", "del", f"iolab{number}v{address.rpartition('.')[2]}", check=False)
    run("ip", "netns", "del", namespace(number, host), check=False)


def leftovers() -> list[str]:
    """Namespaces of any lab that are still there, whoever forgot them."""
    names = [line.split()[0] for line in run("ip", "netns", "list").stdout.splitlines() if line.strip()]
    return [name for name in names if name.startswith("iolab")]


def remove_namespace(name: str) -> None:
    run("ip", "netns", "del", name, check=False)
