# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lab from the command line: python3 -m lab up|down|status (INFEROPS_LAB chooses the lab)."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from lab import cgroups, inventory, mirror, network, snapshot
from lab.machine import Machine, known_machines
from lab.places import CACHE, lab_directory, lab_number
from lab.services import HUB
from lab.shell import LabError, stop_recorded


def up(arguments: argparse.Namespace) -> None:
    """Boot the hosts and start what they need; what runs already is left alone."""
    lab = lab_number()
    specs = inventory.specs(arguments.inventory or [inventory.DEFAULT], arguments.hosts)
    mirror.open_proxy()
    network.open_bridge(lab)
    for spec in specs:
        state = "booted" if Machine(lab, spec).up() else "running"
        print(f"lab: {spec.name} {state} at {spec.address} ({spec.suite})", flush=True)
    inventory.write_resolved(lab_directory(lab) / "inventory.json", [machine.spec for machine in known_machines(lab)])
    if arguments.hub:
        print(f"lab: hub at {HUB(lab).up()}", flush=True)


def down(arguments: argparse.Namespace) -> None:
    """Remove hosts, namespaces, bridge and services: of this lab, or of every lab there ever was."""
    numbers = [int(path.name) for path in (CACHE / "labs").glob("*")] if arguments.all else [lab_number()]
    for lab in numbers:
        for machine in known_machines(lab):
            if not arguments.hosts or machine.spec.name in arguments.hosts:
                machine.destroy()
        if not arguments.hosts:
            stop_recorded(lab_directory(lab))
            network.close_bridge(lab)
            shutil.rmtree(lab_directory(lab), ignore_errors=True)
    if arguments.all:
        mirror.close_proxy()
        for name in network.leftovers():
            network.remove_namespace(name)
        cgroups.sweep()


def reboot(arguments: argparse.Namespace) -> None:
    """Pull the plug of hosts, of all of them at once, and boot them again."""
    machines = [machine for machine in known_machines(lab_number()) if machine.spec.name in arguments.hosts]
    for machine in machines:
        machine.power_off()
    for machine in machines:
        machine.boot()


def status(_arguments: argparse.Namespace) -> None:
    for directory in sorted((CACHE / "labs").glob("*")):
        for machine in known_machines(int(directory.name)):
            state = "running" if machine.running else "off"
            print(f"lab {directory.name}: {machine.spec.name} {machine.spec.address} {machine.spec.suite} {state}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="lab", description=__doc__)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("up", help="boot hosts")
    command.add_argument("hosts", nargs="*")
    command.add_argument("--inventory", type=Path, action="append", help="default: inventories/lab")
    command.add_argument("--hub", action="store_true", help="also start the model hub with the lab's models")
    command.set_defaults(run=up)
    command = commands.add_parser("down", help="remove hosts, or the whole lab")
    command.add_argument("hosts", nargs="*")
    command.add_argument("--all", action="store_true", help="every lab, and what they share")
    command.set_defaults(run=down)
    command = commands.add_parser("reboot", help="pull the plug of hosts and boot them again")
    command.add_argument("hosts", nargs="+")
    command.set_defaults(run=reboot)
    command = commands.add_parser("status", help="list hosts of all labs")
    command.set_defaults(run=status)
    command = commands.add_parser("remember", help="take a picture of every file of this lab's hosts")
    command.set_defaults(run=lambda _arguments: snapshot.remember(lab_number()))
    command = commands.add_parser("compare", help="fail if a file has changed since the picture was taken")
    command.set_defaults(run=lambda _arguments: snapshot.compare(lab_number()))
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
