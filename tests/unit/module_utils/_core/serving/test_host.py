# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The host behind a wait: commands as they are asked, and /proc as it looks."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.host import Host, Journal, invocations
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.unit import UnitState, parse_unit

UNIT = UnitState("s.service", "loaded", "active", "running", "success", "a" * 32, 0, 7, "/system.slice/s.service")
TABLE = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 00000000:7531 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 x\n"
)


class Commands:
    """Answers commands and remembers them."""

    def __init__(self, *outputs: tuple[int, str, str]) -> None:
        self.outputs = list(outputs)
        self.asked: list[list[str]] = []

    def __call__(self, argv: list[str], consume: Any = None) -> tuple[int, str, str]:
        """Run nothing."""
        self.asked.append(argv)
        rc, out, err = self.outputs.pop(0)
        if consume:
            consume(io.BytesIO(out.encode()))
            out = ""
        return rc, out, err


def record(message: str, cursor: str, **more: Any) -> str:
    """One journal line."""
    return json.dumps(dict({"MESSAGE": message, "__CURSOR": cursor, "_PID": "7"}, **more)) + "\n"


def test_the_journal_is_followed_by_cursor() -> None:
    """First since the start, then after the last record; kernel lines only where they matter."""
    first = record("one", "c1") + record("usb 1-1: new device", "c2", _TRANSPORT="kernel")
    first += record("NVRM: Xid (PCI:0): 79, GPU has fallen off the bus", "c3", _TRANSPORT="kernel")
    run = Commands((0, first, ""), (0, record("two", "c4"), ""), (1, "", "No permission"))
    journal = Journal(run, "a" * 32, "Mon 2026-11-30 22:00:00 UTC")
    assert [entry.text[:9] for entry in journal.read()] == ["one", "NVRM: Xid"]
    assert [entry.text for entry in journal.read()] == ["two"]
    assert journal.read() == [] and journal.problem == "No permission"
    assert "--since=Mon 2026-11-30 22:00:00 UTC" in run.asked[0] and "--all" in run.asked[0]
    assert "_SYSTEMD_INVOCATION_ID=" + "a" * 32 in run.asked[0] and "INVOCATION_ID=" + "a" * 32 in run.asked[0]
    assert "--after-cursor=c3" in run.asked[1] and not any(word.startswith("--since") for word in run.asked[1])
    assert "--after-cursor=c4" in run.asked[2]


def test_the_hosts_lines_of_other_times_do_not_count() -> None:
    """The kernel's before the invocation, and those long after its last line, unless it speaks again."""

    def at(seconds: int, message: str, **more: Any) -> str:
        return record(message, f"c{seconds}", __REALTIME_TIMESTAMP=str(seconds * 1_000_000), **more)

    xid = [at(when, f"NVRM: Xid {when}", _TRANSPORT="kernel") for when in (5, 20, 1000, 2000)]
    lines = [xid[0], at(10, "own"), xid[1], xid[2], at(1500, "own again"), xid[3]]
    journal = Journal(Commands((0, "".join(lines), "")), "a" * 32)
    assert [e.text for e in journal.read()] == ["own", "NVRM: Xid 20", "NVRM: Xid 1000", "own again"]


def test_invocations_in_their_order() -> None:
    """Each once, oldest first; lines without one are skipped."""
    lines = [{"INVOCATION_ID": "a"}, {}, {"INVOCATION_ID": "b"}, {"INVOCATION_ID": "a"}]
    run = Commands((0, "\n".join(map(json.dumps, lines)), ""))
    assert invocations(run, "s.service") == ["a", "b"]
    assert "UNIT=s.service" in run.asked[0]


def tree(root: Path, holder: int) -> Host:
    """A /proc in which process `holder` listens on port 30001, and a unit with process 7."""
    for pid in (7, 8):
        (root / f"proc/{pid}/net").mkdir(parents=True)
        (root / f"proc/{pid}/fd").mkdir()
        (root / f"proc/{pid}/comm").write_text("nginx\n")
        (root / f"proc/{pid}/net/tcp").write_text(TABLE)
        (root / f"proc/{pid}/io").write_text("rchar: 1000\nwchar: 5\n")
    os.symlink("socket:[4242]", root / f"proc/{holder}/fd/3")
    (root / "sys/fs/cgroup/system.slice/s.service").mkdir(parents=True)
    (root / "sys/fs/cgroup/system.slice/s.service/cgroup.procs").write_text("7\n")
    return Host(Commands(), "s.service", 30001, str(root))


def test_our_own_socket(tmp_path: Path) -> None:
    """It belongs to a process of the unit's control group."""
    assert tree(tmp_path, 7).listening(UNIT) == ("ours", "")


def test_somebody_elses_socket(tmp_path: Path) -> None:
    """And who that is."""
    host = tree(tmp_path, 8)
    assert host.listening(UNIT) == ("other", "port 30001 is held by pid 8 (nginx)")
    assert host.working(UNIT) == (1000, False)


def test_where_it_listens(tmp_path: Path) -> None:
    """As people write addresses."""
    assert tree(tmp_path, 7).addresses(UNIT) == ["0.0.0.0"]


def test_nobody_listens(tmp_path: Path) -> None:
    """Another port does not count."""
    host = tree(tmp_path, 7)
    host._port = 30002
    assert host.listening(UNIT) == ("nobody", "")


@pytest.mark.parametrize(
    ("process_start", "inactive_exit", "since"),
    [
        # Running: the unit left the inactive state just before its process began.
        ("Mon 2026-11-30 23:12:52 UTC", "Mon 2026-11-30 23:12:51 UTC", "Mon 2026-11-30 23:12:51 UTC"),
        # Waiting for its next start (systemd 252): it "left the inactive state" when it died.
        ("Mon 2026-11-30 23:12:52 UTC", "Mon 2026-11-30 23:12:58 UTC", "Mon 2026-11-30 23:12:52 UTC"),
        ("Sun 2026-11-29 23:59:59 UTC", "Mon 2026-11-30 00:00:04 UTC", "Sun 2026-11-29 23:59:59 UTC"),
        ("n/a", "Mon 2026-11-30 23:12:58 UTC", "Mon 2026-11-30 23:12:58 UTC"),
        ("", "", ""),
    ],
)
def test_a_dead_units_journal_is_read_from_the_start_of_its_process(
    process_start: str, inactive_exit: str, since: str
) -> None:
    text = f"ExecMainStartTimestamp={process_start}\nInactiveExitTimestamp={inactive_exit}\n"
    assert parse_unit("sglang.service", text).since == since
