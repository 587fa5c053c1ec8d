# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make bench NAME=fleet`: four hosts download 512 MiB from a hub that sends at most 160 Mbit/s.

Both runs are a whole `ansible-playbook` with the role model_download on hosts that have aria2 already; they differ in
model_download_seeds alone. A third run measures a host that joins later.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lab.shell import LabError

from benchmarks.common import report
from benchmarks.fleet.stage import HOSTS, REPOSITORY, TARGET, Stage

GOAL = "origin bytes <= 1.1x one model; wall <= 0.45x of 4 independent downloads"
PLAY = [
    {
        "name": "Download",
        "hosts": "all",
        "gather_facts": False,
        "roles": ["inferops.sglang.model_download"],
    }
]


def measured(stage: Stage, hosts: list[str], seeds: list[str]) -> dict[str, float]:
    """One run on *hosts*: seconds, and what the origin sent as multiples of the model's size."""
    variables: dict[str, Any] = {
        "model_download_repository": REPOSITORY,
        "model_download_path": f"{TARGET}/model",
        "model_download_endpoint": stage.url,
        "model_download_token": "",
        "model_download_seeds": seeds,
    }
    stage.forget_requests()
    with tempfile.TemporaryDirectory(prefix="fleet-") as directory:
        play = Path(directory) / "play.json"
        play.write_text(json.dumps(PLAY))
        begin = time.monotonic()
        stage.playbook(play, hosts, variables)
        seconds = time.monotonic() - begin
    stage.check(hosts)
    return {"seconds": round(seconds, 1), "origin_models": round(stage.origin_bytes() / stage.model_bytes, 3)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.fleet", description=__doc__)
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    os.environ.setdefault("INFEROPS_LAB", "41")
    runs: dict[str, list[dict[str, float]]] = {"independent": [], "shared": [], "joins_later": []}
    with Stage() as stage:
        for turn in range(arguments.rounds):
            for name, hosts, seeds, emptied in (
                ("independent", HOSTS, [], HOSTS),
                ("shared", HOSTS, HOSTS, HOSTS),
                ("joins_later", HOSTS[-1:], HOSTS, HOSTS[-1:]),
            ):
                stage.clear(emptied)
                runs[name].append(measured(stage, hosts, seeds))
                print(f"round {turn + 1}: {name}: {runs[name][-1]}", flush=True)
    best = {name: min(run["seconds"] for run in results) for name, results in runs.items()}
    ratio = best["shared"] / best["independent"]
    origin = max(run["origin_models"] for run in runs["shared"])
    figures = {**runs, "wall_ratio": round(ratio, 3), "origin_models": origin}
    report("fleet", figures, GOAL, origin <= 1.1 and ratio <= 0.45)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"bench: {error}")
