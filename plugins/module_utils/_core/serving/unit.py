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
    "ExecMainCode", "ExecMainStatus", "ExecMainStartTimestamp", "InactiveExitTimestamp",
)  # fmt: skip

# siginfo's si_code, which ExecMainCode carries as a number.
_CODES = {"1": "exited", "2": "killed", "3": "dumped"}


@dataclass(frozen=True)
class UnitState:
    """One look at the unit. `since` is when its last start began, in systemd's own words and in UTC."""

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
        since=_earlier(values.get("ExecMainStartTimestamp", ""), values.get("InactiveExitTimestamp", "")),
    )


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0


def _earlier(process_start: str, inactive_exit: str) -> str:
    """A unit that waits for its next start left the inactive state when it died, after the process in question began."""
    known = [stamp for stamp in (process_start, inactive_exit) if stamp.count(" ") >= 2]  # "n/a" where it never started
    return min(known, key=lambda stamp: stamp.split()[1:3]) if known else ""
