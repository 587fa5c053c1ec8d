# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""One scheduler rank: a process of its own that prints its lines, answers its parent's requests, and dies on cue.

It is started as `python -m sglang.standin.scheduler`; its first line of standard input is its brief (JSON), the others
are requests; it answers on standard output, one line each. Standard error is the service's log, shared with everybody.
"""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import signal
import sys
import time
from typing import Any

from sglang.standin import faults, startup
from sglang.standin.script import Script


class Scheduler:
    """One rank: `brief` carries rank, tp_size, whether the fault is armed, and the architecture."""

    def __init__(self, brief: dict[str, Any], script: Script) -> None:
        self.brief = brief
        self.script = script
        self.rank = int(brief["rank"])
        self.prefix = f"TP{self.rank}" if brief["tp_size"] > 1 else ""
        strikes_here = script.fault not in faults.OF_THE_MAIN_PROCESS and self.rank in script.ranks
        self.fails = bool(brief["armed"]) and strikes_here
        self.phase = faults.PHASE_OF.get(script.fault, script.phase) if self.fails else ""
        self.served = 0

    def start(self) -> None:
        """Print the start-up lines with their pauses; die in the phase that the script names."""
        current = ""
        for step in startup.good_start(self.brief["kind"], self.script.shards):
            if step.phase != current and current and self.phase == current:
                self.die()
            current = step.phase
            if step.text == "<shards>":
                self.load_shards(step.seconds)
                continue
            time.sleep(step.seconds * self.script.speed)
            if step.who == "ranks" or self.rank == 0:
                startup.log(step.text, self.prefix)
        if self.phase == current:
            self.die()

    def load_shards(self, seconds: float) -> None:
        """Draw the progress bar on rank 0; a fault in this phase strikes half-way."""
        total = self.script.shards
        for done in range(total + 1):
            if self.rank == 0:
                startup.write(startup.shard_bar(done, total))
            if self.phase == "weights" and done >= total // 2:
                startup.write("\n" if self.rank == 0 else "")
                self.die()
            time.sleep(seconds / (total + 1) * self.script.speed)
        startup.write("\n" if self.rank == 0 else "")

    def serve(self) -> None:
        """Answer requests until standard input ends."""
        startup_done = json.dumps({"ready": True})
        print(startup_done, flush=True)
        for line in sys.stdin:
            request = json.loads(line)
            if self.phase == "image" and request.get("image"):
                self.die()
            self.served += 1
            if self.phase == "serving" and self.served > self.script.after_requests:
                self.die()
            if self.rank == 0:
                startup.log(startup.prefill(request["prompt_tokens"]), self.prefix)
            print(json.dumps({"id": request["id"]}), flush=True)

    def die(self) -> None:
        """Die the way the script says."""
        fault = self.script.fault
        if fault == "hang":
            wait_for_a_lost_peer()
        if fault == "segfault":
            faulthandler.enable()
            os.kill(os.getpid(), signal.SIGSEGV)
        if fault == "sigkill":
            os.kill(os.getpid(), signal.SIGKILL)
        for line in faults.COMPILER_LINES.get(fault, ()):
            startup.write(line + "\n")
        lines = self.script.traceback or faults.TRACEBACKS.get(fault, ("Traceback (most recent call last):",))
        text = "Scheduler hit an exception: " + "\n".join(lines) + "\n"
        if self.script.obituary_first:
            os.kill(os.getppid(), signal.SIGQUIT)
            time.sleep(0.2)
            startup.log(text, self.prefix)
        else:
            startup.log(text, self.prefix)
            os.kill(os.getppid(), signal.SIGQUIT)
        time.sleep(60)


def wait_for_a_lost_peer() -> None:
    """Hang without a sign, as a collective does when one rank never arrives."""
    while True:
        time.sleep(3600)


def set_title(title: str) -> None:
    """Name the process, as setproctitle does for the real one: over its own command line."""
    with open("/proc/self/stat", encoding="ascii", errors="replace") as handle:
        fields = handle.read().rpartition(")")[2].split()
    start, end = int(fields[45]), int(fields[46])  # arg_start and arg_end, proc(5)
    text = title.encode()[: end - start - 1]
    ctypes.memset(start, 0, end - start)
    ctypes.memmove(start, text, len(text))


def main() -> None:
    """Read the brief, start, serve."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: no orphan outlives its parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    scheduler = Scheduler(json.loads(sys.stdin.readline()), Script.load())
    set_title("sglang::scheduler" + (f"_{scheduler.prefix}" if scheduler.prefix else ""))
    scheduler.start()
    scheduler.serve()


if __name__ == "__main__":
    main()
