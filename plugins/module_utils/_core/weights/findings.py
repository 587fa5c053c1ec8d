# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was found wrong with a file: one sentence each, with the tensor and the byte where there is one.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Iterator


@dataclass(frozen=True)
class Defect:
    """One thing that is wrong. *message* does not name the file; *byte* counts from the start of the file."""

    kind: str
    message: str
    tensor: str | None = None
    byte: int | None = None

    def public(self, file: str) -> dict[str, Any]:
        """The defect as a module returns it; absent parts are left out."""
        shown: dict[str, Any] = {"file": file, "kind": self.kind, "message": f"{file}: {self.message}"}
        if self.tensor is not None:
            shown["tensor"] = self.tensor
        if self.byte is not None:
            shown["byte"] = self.byte
        return shown


@dataclass
class Defects:
    """The first defects of one file, and how many there are: a damaged header can hold a million of them."""

    limit: int = 10
    total: int = 0
    first: list[Defect] = field(default_factory=list)

    def add(self, kind: str, message: str, tensor: str | None = None, byte: int | None = None) -> None:
        self.total += 1
        if len(self.first) < self.limit:
            self.first.append(Defect(kind, message, tensor, byte))

    def __iter__(self) -> Iterator[Defect]:
        return iter(self.first)
