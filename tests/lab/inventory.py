# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read host specs from an Ansible inventory: its lab_* variables describe the machines."""

from __future__ import annotations

import json
from pathlib import Path

from lab.machine import KEY, Spec
from lab.places import PROJECT, lab_number
from lab.shell import LabError, run

DEFAULT = PROJECT / "inventories" / "lab"


def specs(inventories: list[Path], names: list[str]) -> list[Spec]:
    """The specs of the named hosts, or of every host of the inventories.

    lab_host_number becomes the last byte of the address; lab_suite, lab_private and lab_artifacts
    are the fields of Spec.
    """
    sources = [word for path in inventories for word in ("-i", path)]
    listing = json.loads(run("ansible-inventory", *sources, "--list", cwd=PROJECT).stdout)
    hostvars = listing["_meta"]["hostvars"]
    unknown = [name for name in names if name not in hostvars]
    if unknown:
        raise LabError(f"The inventory has no host {unknown[0]}; it has {', '.join(sorted(hostvars))}.")
    return [_spec(name, hostvars[name]) for name in names or sorted(hostvars)]


def write_resolved(path: Path, hosts: list[Spec]) -> None:
    """An inventory without templates, for testinfra, which opens SSH connections of its own."""
    connection = {
        "ansible_user": "root",
        "ansible_ssh_private_key_file": str(KEY),
        "ansible_ssh_common_args": "-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR "
        f"-o ControlMaster=auto -o ControlPersist=60 -o ControlPath={path.parent}/%h.ssh",
    }
    every = {"all": {"hosts": {spec.name: {"ansible_host": spec.address, **connection} for spec in hosts}}}
    path.write_text(json.dumps(every, indent=2))


def _spec(name: str, variables: dict[str, object]) -> Spec:
    if "lab_host_number" not in variables:
        raise LabError(f"Host {name} has no lab_host_number, the last byte of its address.")
    return Spec(
        name=name,
        address=f"10.77.{lab_number()}.{variables['lab_host_number']}",
        suite=str(variables.get("lab_suite", "bookworm")),
        private=bool(variables.get("lab_private", False)),
        artifacts=dict(variables.get("lab_artifacts", {})),  # type: ignore[call-overload]
    )
