# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make bench NAME=download`: 12 files, 1.5 GB, everything verified, on one test host with the hub on its bridge.

Every program is timed on the host, from its start to its end, into a file system in memory; the four take turns, and
the median of the rounds counts. The bar is what a careful user gets by hand: aria2c with the best options known, then
hashlib on two threads.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from typing import Any

from lab.shell import LabError

from benchmarks.common import report
from benchmarks.download import ours
from benchmarks.download.stage import TARGET, Stage

REPOSITORY = "bench/twelve"
PACE_BYTES_PER_SECOND = 8_000_000
SETTINGS = {"unthrottled": None, "paced": PACE_BYTES_PER_SECOND}
GOAL = (
    "verified wall <= 1.0x the bar in both settings; >= 7x faster than hf download + hf cache verify where each "
    "connection has 8 MB/s; second run of 64 shards <= 1 s without reading content; module memory <= 100 MiB"
)
ARIA2C = f"aria2c --no-conf --no-netrc --quiet --file-allocation=none -x16 -s16 -d {TARGET}/model"


def programs(stage: Stage) -> dict[str, str]:
    """The four as shell commands; `bar` is the one to beat."""
    commit_url = f"{stage.url}/{REPOSITORY}/resolve/main/"
    listing = stage.listing(REPOSITORY)
    plain = "".join(f"{commit_url}{item['path']}\n  out={item['path']}\n" for item in listing)
    checked = "".join(
        f"{commit_url}{item['path']}\n  out={item['path']}\n"
        + (f"  checksum=sha-256={item['lfs']['oid']}\n" if "lfs" in item else "")
        for item in listing
    )
    stage.put("/root/plain.txt", plain.encode())
    stage.put("/root/checked.txt", checked.encode())
    digests = {item["path"]: item["lfs"]["oid"] for item in listing if "lfs" in item}
    stage.put("/root/digests.json", json.dumps(digests).encode())
    stage.put("/root/ours.py", module(stage, REPOSITORY, "model"))
    hf = f"HF_ENDPOINT={stage.url} HF_HUB_DISABLE_XET=1 HF_HUB_DISABLE_PROGRESS_BARS=1 /opt/hf/bin/hf"
    return {
        "ours": "python3 /root/ours.py",
        "bar": f"{ARIA2C} -k1M -j12 -i /root/plain.txt && python3 /root/hashed.py {TARGET}/model /root/digests.json",
        "aria2c with checksum": f"{ARIA2C} -j4 -i /root/checked.txt",
        "hf": f"{hf} download {REPOSITORY} --local-dir {TARGET}/model && "
        f"{hf} cache verify {REPOSITORY} --local-dir {TARGET}/model",
    }


def module(stage: Stage, repository: str, name: str) -> bytes:
    path = f"{TARGET}/{name}"
    return ours.packed({"repository": repository, "path": path, "endpoint": stage.url, "slice_seconds": 0})


def compare(stage: Stage, rounds: int) -> dict[str, dict[str, list[dict[str, Any]]]]:
    commands = programs(stage)
    results: dict[str, dict[str, list[dict[str, Any]]]] = {
        setting: {name: [] for name in commands} for setting in SETTINGS
    }
    for turn in range(rounds):
        for setting, pace in SETTINGS.items():
            stage.pace(pace)
            for name, command in commands.items():
                stage.clear()
                result = stage.time(command)
                results[setting][name].append(result)
                seconds = result["seconds"]
                print(
                    f"round {turn + 1}: {setting}: {name}: {seconds:.2f} s, {result['memory_mib']:.0f} MiB", flush=True
                )
    stage.pace(None)
    return results


def second_run(stage: Stage) -> dict[str, Any]:
    """A finished directory of 64 shards once more: how long, and whether a byte of content was read or fetched."""
    stage.clear()
    stage.put("/root/many.py", module(stage, "bench/many", "many"))
    stage.time("python3 /root/many.py")
    times = f"find {TARGET}/many -name '*.safetensors' -printf '%p %A@\\n' | sort"
    before = stage.ssh(times)
    stage.forget_requests()
    runs = [stage.time("python3 /root/many.py") for _turn in range(3)]
    untouched = stage.ssh(times) == before and stage.requests()["cdn_requests"] == 0
    seconds = statistics.median(run["seconds"] for run in runs)
    return {"second_run_64_shards_seconds": round(seconds, 2), "second_run_reads_content": not untouched}


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.download", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    os.environ.setdefault("INFEROPS_LAB", "40")
    ours.prepare()
    with Stage() as stage:
        results = compare(stage, arguments.rounds)
        figures: dict[str, Any] = second_run(stage)
    for setting, by_name in results.items():
        median = {name: statistics.median(run["seconds"] for run in runs) for name, runs in by_name.items()}
        for name, seconds in median.items():
            all_runs = [round(run["seconds"], 2) for run in by_name[name]]
            figures[f"{setting}: {name}"] = {"seconds": round(seconds, 2), "runs": all_runs}
            print(f"{setting:12}  {name:22}  {seconds:6.2f} s  {seconds / median['bar']:5.2f}x the bar")
        figures[f"{setting}: ours / bar"] = round(median["ours"] / median["bar"], 2)
        figures[f"{setting}: hf / ours"] = round(median["hf"] / median["ours"], 2)
    memory = max(run["memory_mib"] for by_name in results.values() for run in by_name["ours"])
    figures["module_memory_mib"] = round(memory, 1)
    met = (
        all(figures[f"{setting}: ours / bar"] <= 1.0 for setting in SETTINGS)
        and figures["paced: hf / ours"] >= 7.0
        and figures["second_run_64_shards_seconds"] <= 1.0
        and not figures["second_run_reads_content"]
        and memory <= 100
    )
    report("download", figures, GOAL, met)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"bench: {error}")
