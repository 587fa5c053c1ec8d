# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a venv from working on another host, named before a byte moves.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from typing import NamedTuple

from ansible_collections.inferops.sglang.plugins.module_utils._core.venv.anatomy import Anatomy


class Hazard(NamedTuple):
    """*id* is what an operator accepts by; a hazard that *stops* is not passed without that."""

    id: str
    stops: bool
    message: str

    def public(self) -> dict[str, object]:
        """The form that stands in results."""
        return {"id": self.id, "stops": self.stops, "message": self.message}


class Origin(NamedTuple):
    """The host it comes from."""

    version: str
    machine: str
    glibc: str


class Destination(NamedTuple):
    """The host it goes to. *base_version* is what *base_link* of the origin says there, empty if nothing."""

    base_version: str
    machine: str
    glibc: str


def of_move(venv: Anatomy, origin: Origin, destination: Destination) -> list[Hazard]:
    """The hazards of taking *venv* from *origin* to *destination*, those that stop first."""
    found = [*_interpreter(venv, origin, destination), *_platform(origin, destination), *_of_tree(venv)]
    return sorted(found, key=lambda hazard: not hazard.stops)


def of_venv(venv: Anatomy, starts: bool) -> list[Hazard]:
    """The hazards that *venv* carries wherever it goes; *starts* is whether its interpreter runs where it is."""
    found = _of_tree(venv)
    if not starts:
        message = f"{venv.python} does not start: its interpreter {venv.base_link or '(none)'} is missing or broken"
        found.append(Hazard("interpreter", True, message))
    for place in (venv.python, venv.base_python):
        if place.startswith("/root/"):
            message = f"{place} is below /root, where a service user cannot reach it unless /root is opened"
            found.append(Hazard("below_root", False, message))
    return sorted(found, key=lambda hazard: not hazard.stops)


def _of_tree(venv: Anatomy) -> list[Hazard]:
    found = []
    if venv.editable:
        message = (
            f"installed as editable, so the code stands outside the venv and would not come along: "
            f"{_listed(venv.editable)}; install it as a regular package on the reference"
        )
        found.append(Hazard("editable", True, message))
    if venv.outside_paths:
        message = (
            f".pth files put directories outside the venv on Python's path: {_listed(venv.outside_paths)}; "
            f"those directories would not come along"
        )
        found.append(Hazard("outside_paths", True, message))
    if venv.outside_links:
        message = (
            f"links in bin/ lead out of the venv: {_listed(venv.outside_links)}; they work only where those files exist"
        )
        found.append(Hazard("outside_links", False, message))
    return found


def _interpreter(venv: Anatomy, origin: Origin, destination: Destination) -> list[Hazard]:
    wanted = ".".join(origin.version.split(".")[:2])
    if not destination.base_version:
        message = (
            f"the venv runs on {venv.base_link} (Python {wanted}), which does not exist on the target; "
            f"install python{wanted} there"
        )
        return [Hazard("base_python_missing", True, message)]
    if ".".join(destination.base_version.split(".")[:2]) != wanted:
        message = (
            f"the venv was made for Python {wanted}, but {venv.base_link} on the target is "
            f"Python {destination.base_version}; compiled packages do not load in another minor version"
        )
        return [Hazard("base_python_version", True, message)]
    return []


def _platform(origin: Origin, destination: Destination) -> list[Hazard]:
    found = []
    if origin.machine != destination.machine:
        message = f"the venv holds code for {origin.machine}, the target is {destination.machine}"
        found.append(Hazard("machine", True, message))
    if _version(origin.glibc) > _version(destination.glibc) > ():
        message = (
            f"the reference has glibc {origin.glibc}, the target the older {destination.glibc}: wheels are built for "
            f"old versions and will load, but what was compiled on the reference may not"
        )
        found.append(Hazard("glibc", False, message))
    return found


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _listed(names: list[str], limit: int = 5) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
