# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd says about a unit, from `systemctl show`.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

PROPERTIES = (
    "LoadState", "ActiveState", "SubState", "Result", "InvocationID", "NRestarts", "MainPID", "ControlGroup",
    "ExecMainCode", "ExecMainStatus", "InactiveExitTimestamp",
)  # fmt: skip

# siginfo's si_code, which ExecMainCode carries as a number.
_CODES = {"1": "exited", "2": "killed", "3": "dumped"}


@dataclass(frozen=True)
class UnitState:
    """One look at the unit. `since` is when it last left the inactive state, in systemd's own words."""

    name: str
    load: str = "not-found"
    active: str = "inactive"
    sub: str = "dead"
    result: str = "success"
    invocation: str = ""
    restarts: int = 0
    main_pid: int = 0
    cgroup: str = ""
    exit_code: str = ""
    exit_status: int | None = None
    since: str = ""

    @property
    def exists(self) -> bool:
        """True where systemd knows the unit."""
        return self.load not in ("not-found", "masked", "error", "bad-setting")

    @property
    def running(self) -> bool:
        """True while its main process may still become ready."""
        return self.active in ("active", "activating", "reloading") and self.sub != "auto-restart"


def parse_unit(name: str, text: str) -> UnitState:
    """Read the `KEY=value` lines of `systemctl show`."""
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    code = _CODES.get(values.get("ExecMainCode", ""), "")
    return UnitState(
        name=name,
        load=values.get("LoadState", "not-found"),
        active=values.get("ActiveState", "inactive"),
        sub=values.get("SubState", "dead"),
        result=values.get("Result", "success"),
        invocation=values.get("InvocationID", ""),
        restarts=_number(values.get("NRestarts")),
        main_pid=_number(values.get("MainPID")),
        cgroup=values.get("ControlGroup", ""),
        exit_code=code,
        exit_status=_number(values.get("ExecMainStatus")) if code else None,
        since=values.get("InactiveExitTimestamp", ""),
    )


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0
