# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start the real SGLang on a test host, over and over, once to its death and once to its first generation.

Each start is watched by a playbook with endpoint_ready and by a shell loop that polls every 15 s over SSH; the loop's first
look is spread evenly over its interval. What is compared with: for a death, the journal's time of the terminal line; for a
generation, an independent prober on the target, and there the first one that was asked for after the warm-up: before that,
a server that answers can still die in it, so nothing is ready. The hosts share this machine's clock.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from statistics import median

from lab.machine import KEY

from benchmarks.common import report

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
LAB = "5"
INTERVAL_SECONDS = 15.0
TERMINAL = re.compile(r"Scheduler hit an exception|Received sigquit")
SSH = [
    "ssh", "-q", "-i", str(KEY), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
    f"root@10.77.{LAB}.21",
]  # fmt: skip
ENVIRONMENT = {**os.environ, "INFEROPS_LAB": LAB, "ANSIBLE_FORCE_COLOR": "0", "PYTHONUNBUFFERED": "1"}
INVENTORIES = ["-i", str(PROJECT / "inventories" / "lab"), "-i", str(HERE / "inventory.yml")]


def lab(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "lab", *words], cwd=PROJECT, env=ENVIRONMENT, check=True)


def on_host(command: str) -> str:
    return subprocess.run([*SSH, command], check=True, capture_output=True, text=True).stdout


def playbook(name: str, *more: str) -> tuple[float, str]:
    """Run one; returns when the result of its last task was shown, and all that was shown."""
    shown, at = [], 0.0
    command = ["ansible-playbook", *INVENTORIES, str(HERE / name), *more]
    with subprocess.Popen(command, cwd=PROJECT, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            if line.startswith(("ok: [", "changed: [", "fatal: [", "failed: [")) or "FAILED!" in line:
                at = time.time()
            shown.append(line)
    return at, "".join(shown)


def loop(unit: str, pause: float, seen: dict[str, float]) -> None:
    """The shell loop, until it knows."""
    words = [str(HERE / "loop.sh"), f"{unit}.service", str(pause), *SSH]
    subprocess.run(words, check=True, capture_output=True)
    seen["loop"] = time.time()


def terminal_line(unit: str) -> float:
    """When the journal received the first line that says it is over, in this unit's last start."""
    invocation = on_host(f"systemctl show -P InvocationID {unit}.service").strip()
    text = on_host(f"journalctl -o json --all --no-pager _SYSTEMD_INVOCATION_ID={invocation}")
    for record in map(json.loads, text.splitlines()):
        message = record.get("MESSAGE")
        message = bytes(message).decode("utf-8", "replace") if isinstance(message, list) else str(message)
        if TERMINAL.search(message):
            return int(record["__REALTIME_TIMESTAMP"]) / 1e6
    raise SystemExit("detection: the service that should have died printed no terminal line")


def one(unit: str, pause: float) -> tuple[float, float, float]:
    """Seconds from the event to our verdict and to the loop's; and from the very first answer to our verdict."""
    seen: dict[str, float] = {}
    looping = threading.Thread(target=loop, args=(unit, pause, seen))
    prober = None
    if unit == "good":
        prober = subprocess.Popen([*SSH, "python3 /opt/prober.py"], stdout=subprocess.PIPE, text=True)
    looping.start()
    ours, shown = playbook("wait.yml", "-e", f"bench_unit={unit}")
    expected = "generates" if prober else "No module named 'vllm'"
    if not prober and expected not in shown:
        print(shown)
        raise SystemExit(f"detection: the verdict of {unit} does not say {expected!r}")
    first, event = map(float, prober.communicate()[0].split()) if prober else (0.0, terminal_line(unit))
    looping.join()
    on_host(f"systemctl stop {unit}.service; systemctl reset-failed {unit}.service 2>/dev/null || true")
    return ours - event, seen["loop"] - event, ours - first


def measure(unit: str, repetitions: int) -> tuple[list[float], list[float], list[float]]:
    ours, theirs, first = [], [], []
    for number in range(repetitions):
        mine, its, since_first = one(unit, INTERVAL_SECONDS * number / repetitions)
        print(
            f"detection: {unit} {number + 1}/{repetitions}: endpoint_ready {mine:.2f} s, loop {its:.2f} s", flush=True
        )
        ours.append(round(mine, 2))
        theirs.append(round(its, 2))
        first.append(round(since_first, 2))
    return ours, theirs, first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = parser.parse_args().repetitions
    try:
        lab("up", "--hub", "b300-01", *(f"--inventory={path}" for path in (INVENTORIES[1], INVENTORIES[3])))
        _at, shown = playbook("prepare.yml")
        if "failed=0" not in shown:
            print(shown)
            raise SystemExit("detection: the host could not be prepared")
        death, death_loop, _never = measure("bad", repetitions)
        ready, ready_loop, first = measure("good", repetitions)
    finally:
        lab("down")
    report(
        "detection",
        {
            "death_seconds": {"median": median(death), "all": death},
            "death_loop_seconds": {"median": median(death_loop), "all": death_loop},
            "ready_seconds": {"median": median(ready), "all": ready},
            "ready_loop_seconds": {"median": median(ready_loop), "all": ready_loop},
            "ready_after_first_answer_seconds": {"median": median(first), "all": first},
        },
        "death known after a median of at most 2.5 s, readiness after at most 1 s",
        median(death) <= 2.5 and median(ready) <= 1.0,
    )


if __name__ == "__main__":
    main()
