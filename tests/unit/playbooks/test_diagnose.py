# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/diagnose.yml, run as a person runs it, against a systemctl and a journalctl that are made up."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HEALTHY, CRASHED, EARLIER = "1" * 32, "2" * 32, "3" * 32

SYSTEMCTL = """#!/bin/sh
for unit; do :; done
cat "$0.d/$unit"
"""
JOURNALCTL = """#!/bin/sh
for word; do
  case $word in
    UNIT=*) cat "$0.d/${word#UNIT=}"; exit ;;
    _SYSTEMD_INVOCATION_ID=*) cat "$0.d/${word#*=}"; exit ;;
  esac
done
"""
INVENTORY = """
all:
  vars: {ansible_connection: local, ansible_become: false, ansible_python_interpreter: "{{ ansible_playbook_python }}"}
  hosts:
    crashed: {sglang_service_name: crashed}
    healthy: {sglang_service_name: healthy}
    absent: {sglang_service_name: absent}
"""
CRASH = """\
[2026-11-30 19:25:30 TP0] Load weight begin. avail mem=177.40 GB
[2026-11-30 19:25:31 TP0] Scheduler hit an exception: Traceback (most recent call last):
  File "/opt/sg/lib/python3.12/site-packages/flashinfer/jit/cpp_ext.py", line 51, in get_cuda_path
    raise RuntimeError("Could not find nvcc")
RuntimeError: Could not find nvcc

[2026-11-30 19:25:31] Received sigquit from a child process. It usually means the child failed."""


def records(text: str, **more: str) -> str:
    """Journal records of the lines of a log."""
    return "\n".join(json.dumps(dict({"MESSAGE": line, "_PID": "7"}, **more)) for line in text.split("\n")) + "\n"


@pytest.fixture(name="machine")
def _machine(tmp_path: Path) -> Path:
    """A directory to put in front of PATH."""
    died = "sglang.service: Main process exited, code=killed, status=9/KILL"
    files = {
        "systemctl": SYSTEMCTL,
        "systemctl.d/crashed.service": f"LoadState=loaded\nActiveState=failed\nResult=signal\nInvocationID={CRASHED}\n",
        "systemctl.d/healthy.service": "LoadState=loaded\nActiveState=active\nSubState=running\nResult=success\n"
        f"InvocationID={HEALTHY}\n",
        "systemctl.d/absent.service": "LoadState=not-found\nActiveState=inactive\n",
        "journalctl": JOURNALCTL,
        "journalctl.d/crashed.service": records("Started", INVOCATION_ID=EARLIER)
        + records("Started", INVOCATION_ID=CRASHED),
        "journalctl.d/healthy.service": records("Started", INVOCATION_ID=HEALTHY),
        "journalctl.d/absent.service": "",
        f"journalctl.d/{CRASHED}": records(CRASH) + records(died, _PID="1", SYSLOG_IDENTIFIER="systemd"),
        f"journalctl.d/{EARLIER}": records("RuntimeError: No CUDA GPUs are available")
        + records(died, _PID="1", SYSLOG_IDENTIFIER="systemd"),
        f"journalctl.d/{HEALTHY}": records("[2026-11-30 19:25:30] The server is fired up and ready to roll!"),
        "hosts.yml": INVENTORY,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return tmp_path


def diagnose(machine: Path, *more: str) -> tuple[str, int]:
    """What the playbook prints, and its status."""
    environment = dict(
        os.environ,
        PATH=f"{machine}:{os.environ['PATH']}",
        ANSIBLE_COLLECTIONS_PATH=str(ROOT / "collections"),
        ANSIBLE_CALLBACK_RESULT_FORMAT="yaml",
        ANSIBLE_NOCOLOR="1",
        ANSIBLE_LOCAL_TEMP=str(machine / "tmp"),
        ANSIBLE_REMOTE_TEMP=str(machine / "tmp"),
    )
    argv = ["ansible-playbook", "-i", str(machine / "hosts.yml"), str(ROOT / "playbooks" / "diagnose.yml"), *more]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False, cwd=machine)
    return done.stdout + done.stderr, done.returncode


def test_it_says_what_each_host_has(machine: Path) -> None:
    """Cause, remedy and evidence of the dead one; that nothing failed; and that there is no such unit."""
    printed, status = diagnose(machine)
    assert status == 0, printed
    flat = " ".join(printed.split())
    for part in (
        "crashed.service died while loading weights: RuntimeError: Could not find nvcc (rank TP0)",
        "nvcc is not found",
        "remedy 1 (environment): CUDA_HOME=/usr/local/cuda",
        "| [TP0 pid 7] RuntimeError: Could not find nvcc",
        "No failure in healthy.service; it came as far as serving.",
        "absent.service does not exist on this host, and has not run as far back as the journal goes",
    ):
        assert part in flat, printed
    assert printed.count("  | ") <= 10


def test_an_earlier_start(machine: Path) -> None:
    """`-e diagnose_invocation=-1` is the one before the last."""
    printed, _status = diagnose(machine, "--limit", "crashed", "-e", "diagnose_invocation=-1")
    assert "No CUDA GPUs are available" in printed and "nvcc" not in printed
