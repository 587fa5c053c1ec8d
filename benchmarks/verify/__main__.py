# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make bench NAME=verify`: the same files, warm in the page cache, verified by us and by what a user has.

The contenders take turns, and the ratios are those within a round, so that other work on the machine slows all of
them alike; the median round counts. The limit is cores x `openssl speed`, taken in every round for the same reason.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import Manifest, read_manifest
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.receipts import dump_receipts, receipt_for
from hub.__main__ import Pair

from benchmarks.common import report
from benchmarks.verify import files, programs

REPOSITORY = "bench/dense"
GOAL = (
    ">= 80 % of cores x openssl speed; >= 2x hf cache verify; >= 7x sha256sum on 2 cores; second look at 64 shards by "
    "receipts <= 1 s; structure of a 590 GB shape <= 1 s; memory <= 100 MiB"
)


def hash_rounds(
    root: Path, endpoint: str, rounds: int, has_client: bool
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Bytes per second of each contender, round by round, and the least processor time that each needed."""
    cpu: dict[str, float] = {}

    def spent(name: str, run: programs.Run) -> float:
        cpu[name] = round(min(run.cpu_seconds, cpu.get(name, run.cpu_seconds)), 2)
        return total / run.seconds

    cores = len(os.sched_getaffinity(0))
    total = sum(file.stat().st_size for file in root.glob("*.safetensors"))
    names = ("limit", "ours", "ours, hashing alone", "ours, no hub", "sha256sum", "hf")
    speeds: dict[str, list[float]] = {name: [] for name in names}
    # The hub hashes its files for the first listing, which is not to be counted against anybody.
    kept = programs.keep_listing(root.parent / "dense.json", repository=REPOSITORY, endpoint=endpoint)
    for number in range(rounds):
        speeds["limit"].append(programs.limit_bytes_per_second(cores))
        run, result = programs.ours(path=str(root), repository=REPOSITORY, endpoint=endpoint, verify="full")
        if not result["proven"]:
            raise RuntimeError(f"the module does not find the model right: {result}")
        speeds["ours"].append(spent("ours", run))
        speeds["ours, hashing alone"].append(result["hash_bytes_per_second"])
        # sha256sum asks nobody either; the goal counts the run that asks the hub.
        run, result = programs.ours(path=str(root), manifest_file=str(kept), verify="full")
        speeds["ours, no hub"].append(spent("ours, no hub", run))
        speeds["sha256sum"].append(spent("sha256sum", programs.sha256sum(root)))
        if has_client:
            speeds["hf"].append(spent("hf", programs.client(REPOSITORY, root, endpoint)))
        told = ", ".join(f"{name} {values[-1] / 1e9:.2f} GB/s" for name, values in speeds.items() if values)
        print(f"round {number + 1}: {told}; ours {run.memory_mib:.0f} MiB", flush=True)
    return speeds, cpu


def ratio(ours: list[float], theirs: list[float]) -> float:
    """The median over the rounds."""
    return statistics.median(one / other for one, other in zip(ours, theirs))


def looks(root: Path, rounds: int) -> dict[str, Any]:
    """A second look by receipts and a look at the structure, as whole processes of the module."""
    manifest = Manifest("bench/shape", 40 * "c", read_manifest(listing(root)).files)
    state = root / ".model_download"
    state.mkdir(exist_ok=True)
    (state / "manifest.json").write_text(json.dumps(dict(json.loads(listing(root)), commit=manifest.commit)))
    receipts = {file.path: receipt_for((root / file.path).stat(), file.digest, "") for file in manifest.files}
    (state / "receipts.json").write_text(dump_receipts(receipts))
    found: dict[str, list[float]] = {"receipts": [], "structure": [], "structure, unproven": [], "bare headers": []}
    memory = 0.0
    for _round in range(rounds):
        found["bare headers"].append(programs.bare_headers(root))
        for level in ("receipts", "structure"):
            run, result = programs.ours(path=str(root), verify=level)
            if not (result["ok"] and result["proven"]):
                raise RuntimeError(f"the shape is found wrong: {str(result)[:2000]}")
            found[level].append(run.seconds)
            memory = max(memory, run.memory_mib)
        (state / "receipts.json").rename(state / "receipts.away")
        run, result = programs.ours(path=str(root), verify="structure")
        (state / "receipts.away").rename(state / "receipts.json")
        if result["defects_total"] != files.SHARDS:
            raise RuntimeError(f"every shard is one hole, and {result['defects_total']} defects were found")
        found["structure, unproven"].append(run.seconds)
        memory = max(memory, run.memory_mib)
    best = {f"{name}_s": round(min(values), 2) for name, values in found.items()}
    return dict(best, memory_mib=round(memory))


def listing(root: Path) -> str:
    """The files of the shape with made-up digests: nobody hashes 590 GB of zeros to measure a look at metadata."""
    entries = [
        {"path": file.name, "size": file.stat().st_size, "sha256": 64 * "a"}
        for file in sorted(root.iterdir())
        if file.is_file()
    ]
    return json.dumps({"files": entries})


def main() -> int:
    parser = argparse.ArgumentParser(prog="benchmarks.verify", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    problem = programs.install_client()
    place = Path(tempfile.mkdtemp(prefix="bench-verify-"))
    try:
        dense = place / "hub" / REPOSITORY
        files.write_dense(dense)
        files.write_shape(place / "shape")
        pair = Pair(place / "hub", "127.0.0.1", 0, 0, [])
        pair.start()
        try:
            speeds, cpu = hash_rounds(dense, pair.url, rounds, problem is None)
        finally:
            pair.stop()
        second = looks(place / "shape", rounds)
    finally:
        shutil.rmtree(place)
    best = {name: max(values) for name, values in speeds.items() if values}
    share = ratio(speeds["ours, hashing alone"], speeds["limit"])
    times_sha256sum = ratio(speeds["ours"], speeds["sha256sum"])
    times_client = ratio(speeds["ours"], speeds["hf"]) if speeds["hf"] else None
    figures = {
        "gb_per_s": {name: round(value / 1e9, 2) for name, value in best.items()},
        "cpu_s": cpu,
        "share_of_limit": round(share, 2),
        "times_sha256sum": round(times_sha256sum, 1),
        "times_sha256sum_without_hub": round(ratio(speeds["ours, no hub"], speeds["sha256sum"]), 1),
        "times_hf_cache_verify": round(times_client, 1) if times_client else problem,
        "cores": len(os.sched_getaffinity(0)),
        **second,
    }
    met = (
        share >= 0.8
        and times_client is not None
        and times_client >= 2
        and times_sha256sum >= 7
        and max(second["receipts_s"], second["structure_s"], second["structure, unproven_s"]) <= 1
        and second["memory_mib"] <= 100
    )
    report("verify", figures, GOAL, met)
    return 0


if __name__ == "__main__":
    sys.exit(main())
