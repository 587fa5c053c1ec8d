# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make bench NAME=diagnosis`: the module unit_failure_info, in a process of its own, on the log of a long life.

Beside it, on the same file: `grep -nE 'Error|Traceback' | tail`, which is what people run, and a bare json.loads of each
line, which is the least that reading the records costs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.common import report
from benchmarks.diagnosis import hostile, life

MODULE = "ansible_collections.inferops.sglang.plugins.modules.unit_failure_info"
ROOT = Path(__file__).resolve().parents[2]
LARGE, SMALL = 200_000_000, 20_000_000
GOAL = "200 MB of journal in under 10 s and under 150 MB, linear in its size, with the right cause; no pattern over 0.2 s on a hostile line"
JSON_LOADS = "import json, sys\nfor line in open(sys.argv[1], 'rb'):\n    json.loads(line)\n"


def run(argv: list[str], stdin: str = "") -> tuple[float, float, float, str]:
    """Seconds, seconds of processor, peak memory (MB) and output of a process of its own."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "collections"))
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as out:
        given.write(stdin)
        given.seek(0)
        begin = time.monotonic()
        process = subprocess.Popen(argv, stdin=given, stdout=out, env=environment, cwd=ROOT)
        _pid, _status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        out.seek(0)
        return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, out.read()


def diagnose(path: Path, lines: int) -> dict[str, Any]:
    """The figures of the module on one file."""
    arguments = json.dumps({"ANSIBLE_MODULE_ARGS": {"path": str(path), "_ansible_remote_tmp": "/tmp"}})
    seconds, processor, memory, out = run([sys.executable, "-m", MODULE], arguments)
    diagnosis = json.loads(out)["diagnosis"]
    size = path.stat().st_size
    right = all(diagnosis[key] == value for key, value in life.ANSWER.items())
    print(f"{path.name}: {size / 1e6:.0f} MB, {lines} lines: {seconds:.1f} s, {memory:.0f} MB; {diagnosis['title']}")
    return {
        "mb": round(size / 1e6),
        "lines": lines,
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "lines_a_second": round(lines / seconds),
        "peak_mb": round(memory),
        "right": right,
    }


def main() -> None:
    """Write the logs, measure, report."""
    with tempfile.TemporaryDirectory() as directory:
        large, small, plain = (Path(directory) / name for name in ("large.json", "small.json", "plain.log"))
        figures: dict[str, Any] = {
            "journal": diagnose(large, life.write_journal(large, LARGE)),
            "small_journal": diagnose(small, life.write_journal(small, SMALL)),
        }
        grep = run(["bash", "-c", "grep -nE 'Error|Traceback' \"$1\" | tail", "bash", str(large)])
        loads = run([sys.executable, "-c", JSON_LOADS, str(large)])
        large.unlink()
        figures["short_iso"] = diagnose(plain, life.write_short_iso(plain, LARGE))
        figures["plain"] = diagnose(plain, life.write_plain(plain, SMALL))
    took = figures["journal"]["seconds"]
    figures["grep"] = {"seconds": round(grep[0], 2), "names_the_cause": "Segmentation fault" in grep[3]}
    figures["json_loads"] = {"seconds": round(loads[0], 2)}
    figures["times_grep"] = round(took / grep[0], 1)
    figures["times_json_loads"] = round(took / loads[0], 2)
    # The fixed cost of starting Ansible's module is in both.
    growth = figures["journal"]["processor_seconds"] / figures["small_journal"]["processor_seconds"]
    figures["growth_at_ten_times_the_size"] = round(growth, 1)
    seconds, pattern = hostile.slowest()
    figures["hostile_line"] = {"seconds": round(seconds, 3), "pattern": pattern.rsplit("_core.", 1)[-1]}
    right = figures["journal"]["right"] and figures["small_journal"]["right"]
    met = took < 10 and figures["journal"]["peak_mb"] < 150 and growth < 13 and seconds < 0.2 and right
    report("diagnosis", figures, GOAL, met)


if __name__ == "__main__":
    main()
