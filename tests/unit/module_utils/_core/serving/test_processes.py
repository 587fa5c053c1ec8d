# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What /proc tells: who is in the way, who works, and where the ranks of a stuck server stand."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving import stacks
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.ports import holder
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.processes import Processes
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.stall import Intake
from ansible_collections.inferops.sglang.plugins.module_utils._core.serving.unit import UnitState

UNIT = UnitState("s.service", "loaded", "active", "running", "success", "a" * 32, 0, 7, "/system.slice/s.service")
TABLE = (
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
    "   0: 0100007F:7531 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4242 1 x\n"
)


def process(root: Path, pid: int, *words: str, unit: str = "", **files: str) -> Path:
    """One process."""
    directory = root / f"proc/{pid}"
    (directory / "fd").mkdir(parents=True)
    (directory / "cmdline").write_text("\0".join(words) + "\0" * 3)
    (directory / "cgroup").write_text(f"1:name=systemd:/x\n0::/system.slice/{unit}\n" if unit else "0::/\n")
    for name, text in files.items():
        (directory / name).write_text(text)
    return directory


def members(root: Path, *pids: int) -> None:
    """The control group of the unit, its ranks in one below it."""
    group = root / "sys/fs/cgroup/system.slice/s.service"
    (group / "ranks").mkdir(parents=True)
    (group / "cgroup.procs").write_text(f"{pids[0]}\n")
    (group / "ranks/cgroup.procs").write_text("".join(f"{pid}\n" for pid in pids[1:]))


def test_who_is_in_the_way_is_named_without_secrets(tmp_path: Path) -> None:
    """The unit itself is in nobody's way, and neither is a listener on another address."""
    (tmp_path / "proc/net").mkdir(parents=True)
    (tmp_path / "proc/net/tcp").write_text(TABLE)
    process(tmp_path, 7, "python", "-m", "sglang.launch_server", unit="s.service")
    stranger = process(tmp_path, 8, "python3", "-m", "http.server", "--api-key", "sk-1", unit="other.service")
    os.symlink("socket:[4242]", stranger / "fd/3")
    found = Processes(str(tmp_path))
    assert holder(found, "s.service", "127.0.0.1", 30001) == (
        "pid 8 (python3 -m http.server --api-key ***) of other.service"
    )
    assert holder(found, "other.service", "127.0.0.1", 30001) == ""
    assert holder(found, "s.service", "10.0.0.1", 30001) == ""
    assert holder(found, "s.service", "127.0.0.1", 30002) == ""
    os.unlink(stranger / "fd/3")
    assert "may not see" in holder(found, "s.service", "0.0.0.0", 30001)


def test_reading_and_page_faults_are_counted(tmp_path: Path) -> None:
    """Mapped weights on a warm cache show as faults alone."""
    fields = " ".join(["S", "1", "1", "1", "0", "-1", "4194560", "100", "0", "5", "0"])
    process(tmp_path, 7, "x", io="rchar: 1000\nread_bytes: 24\n", stat=f"7 (a b) {fields} 0 0\n")
    assert Processes(str(tmp_path)).bytes_taken_in([7, 99]) == 1024 + 105 * 4096


@pytest.mark.parametrize(("state", "works"), [("R", True), ("D", True), ("S", False)])
def test_a_compiler_that_runs_is_work(tmp_path: Path, state: str, works: bool) -> None:
    """One that waits for a lock is none; neither is any other program."""
    process(tmp_path, 7, "ptxas", stat=f"7 (ptxas) {state} 1\n")
    process(tmp_path, 8, "python", stat="8 (python) R 1\n")
    assert Processes(str(tmp_path)).compiling([7, 8]) is works
    assert Processes(str(tmp_path)).compiling([8]) is False


def test_heartbeats_are_no_work() -> None:
    """An idle server reads a little all the time; the rate decides, and looks may be far apart."""
    intake = Intake()
    assert not intake.is_work(1 << 30, 1000.0)  # everything before the first look
    assert not intake.is_work((1 << 30) + 4096, 1900.0)
    assert not intake.is_work(2 << 30, 1904.0)  # too soon to tell
    assert intake.is_work(2 << 30, 1910.0)


def dump(*frames: str, pid: int = 8) -> str:
    """`py-spy dump --json`, cut down."""
    shown = [{"name": name, "short_filename": "loader.py", "line": 7} for name in frames]
    helper = {"os_thread_id": 99, "frames": [{"name": "wait", "short_filename": "threading.py", "line": 1}]}
    return json.dumps([helper, {"os_thread_id": pid, "frames": shown}])


def server(root: Path) -> Processes:
    """A main process with py-spy beside its interpreter, and three ranks that named themselves."""
    venv = root / "venv/bin"
    venv.mkdir(parents=True)
    (venv / "py-spy").write_text("")
    (venv / "py-spy").chmod(0o755)
    process(root, 7, f"{venv}/python", "-m", "sglang.launch_server")
    process(root, 10, "sglang::scheduler_TP10_EP10")
    process(root, 8, "sglang::scheduler_TP2_EP2")
    process(root, 9, "sglang::detokenizer")
    members(root, 7, 10, 8, 9)
    return Processes(str(root))


def test_each_rank_is_asked_where_it_stands(tmp_path: Path) -> None:
    """In the order of ranks, the main process last, without stopping any of them, and with a limit of time."""
    asked = []

    def run(argv: list[str]) -> Any:
        asked.append(argv)
        return 0, dump("read", "load", pid=int(argv[-1])), ""

    found, reason = stacks.stacks(run, server(tmp_path), UNIT)
    assert [(one["rank"], one["pid"]) for one in found] == [("TP2 EP2", 8), ("TP10 EP10", 10), ("", 7)]
    assert found[0]["frames"] == ["read (loader.py:7)", "load (loader.py:7)"] and reason == ""
    assert asked[0][0] == "timeout" and "--nonblocking" in asked[0]
    assert asked[0][3] == str(tmp_path / "venv/bin/py-spy")


def test_a_py_spy_that_others_can_write_is_not_run_as_root(tmp_path: Path) -> None:
    """And the reason is said."""
    processes = server(tmp_path)
    (tmp_path / "venv/bin/py-spy").chmod(0o775)
    found, reason = stacks.stacks(lambda _argv: pytest.fail("was run"), processes, UNIT)
    assert found == [] and "can be written by others than root" in reason


def test_a_server_without_py_spy_and_one_that_cannot_be_read(tmp_path: Path) -> None:
    """Each has its reason."""
    processes = server(tmp_path)
    refused = stacks.stacks(lambda _argv: (1, "", "Error: Permission denied\n"), processes, UNIT)
    assert refused == ([], "py-spy could not read pid 7: Error: Permission denied")
    assert stacks.main_thread("no json", 8) == [] and stacks.main_thread("[]", 8) == []
    (tmp_path / "venv/bin/py-spy").unlink()
    assert "pip install py-spy" in stacks.stacks(lambda _argv: pytest.fail("was run"), processes, UNIT)[1]


def test_the_rank_that_stands_elsewhere_comes_first() -> None:
    """The others wait for it."""
    waiting = ["all_reduce (distributed.py:1)", "forward (model.py:2)"]
    found = [{"rank": f"TP{rank}", "pid": rank, "frames": waiting} for rank in (0, 2)]
    found.append({"rank": "TP1", "pid": 1, "frames": ["_build (build.py:54)"]})
    found.append({"rank": "", "pid": 7, "frames": ["run (main.py:1)"]})
    assert stacks.in_words(found) == (
        "TP1 stands in _build (build.py:54); "
        "TP0, TP2 stand in all_reduce (distributed.py:1), called by forward (model.py:2)."
    )
    assert stacks.in_words([]) == ""
