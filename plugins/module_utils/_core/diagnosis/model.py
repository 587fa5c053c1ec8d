# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a signature, a remedy and an event are.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

REMEDY_KINDS = ("server_args", "environment", "packages", "host", "model", "manual")

# How much a signature may claim. A weak one names a class of failure, not its reason: it does not beat an earlier
# exception of another kind. A secondary one is always the consequence of something else.
SPECIFIC, WEAK, SECONDARY = "specific", "weak", "secondary"


@dataclass(frozen=True)
class Remedy:
    """One thing to change. `unattended` tells whether a machine may do it without asking what it costs.

    Where it may, `value` is exact for the kinds `server_args` (`--option value`) and `environment` (`NAME=value`). `note`
    says for people what to know about it.
    """

    kind: str
    value: str
    unattended: bool = False
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The shape that results carry."""
        return {"kind": self.kind, "value": self.value, "unattended": self.unattended, "note": self.note}


@dataclass(frozen=True)
class Signature:
    """A known failure, as data. All patterns are regular expressions, searched, not anchored, case ignored.

    `exception` looks at `Type: message` and what the exception printed below; `frames` (if given as well) at the
    traceback's frames; `line` at any single line of the log. One of `exception`, `line` is needed; where both are given
    either may match. `nearby` must match some other line of the log. Named groups may be used in `title`, `cause` and
    remedies as `{group}`.
    """

    id: str
    title: str
    cause: str
    remedies: tuple[Remedy, ...] = ()
    exception: str = ""
    frames: str = ""
    line: str = ""
    nearby: str = ""
    strength: str = SPECIFIC
    versions: str = ""
    reference: str = ""


@dataclass(frozen=True)
class Event:
    """Something in the log that may be the cause. `index` is its place among the entries, which is its place in time."""

    index: int
    kind: str
    type: str = ""
    message: str = ""
    detail: str = ""
    frames: tuple[str, ...] = ()
    rank: str = ""
    pid: int | None = None
    last: int = 0
    fatal: bool = True
    complete: bool = True
    header: str = ""
    links: tuple[tuple[str, str, str], ...] = field(default=())

    @property
    def summary(self) -> str:
        """`Type: message`, or whichever of the two there is."""
        return ": ".join(part for part in (self.type, self.message) if part)
