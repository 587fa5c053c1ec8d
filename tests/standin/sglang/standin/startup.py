# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lines of a good start, in the format and order of SGLang 0.5.23."""

from __future__ import annotations

import dataclasses
import os
import sys
import threading
import time

PHASES = ("imports", "tokenizer", "distributed", "weights", "kv_cache", "cuda_graphs", "http", "warmup", "serving")
_LOCK = threading.RLock()  # a signal handler may log while the main thread does


@dataclasses.dataclass(frozen=True)
class Step:
    """One line: wait `seconds`, then `who` (main, ranks or rank0) prints `text`."""

    phase: str
    who: str
    seconds: float
    text: str


def stamp(rank: str = "") -> str:
    """The prefix of the real program's log lines."""
    return time.strftime("[%Y-%m-%d %H:%M:%S") + (" " + rank if rank else "") + "] "


def write(text: str) -> None:
    """Write raw text to stderr in one system call, as the real logging does."""
    with _LOCK:
        os.write(sys.stderr.fileno(), text.encode("utf-8", "surrogateescape"))


def log(text: str, rank: str = "") -> None:
    """Write one log line with its prefix."""
    write(stamp(rank) + text + "\n")


def good_start(kind: str, shards: int) -> list[Step]:
    """Everything the scheduler ranks and the main process print before the port is bound."""
    memory = 250.0
    return [
        Step("distributed", "ranks", 0.6, "Init parallel begin."),
        Step("distributed", "ranks", 0.3, "Init parallel ends. elapsed=0.30 s"),
        Step("distributed", "ranks", 0.1, "Memory baseline taken. mem usage=0.53 GB"),
        Step(
            "weights",
            "ranks",
            0.1,
            "Ignore import error when loading sglang.srt.models.midashenglm: No module named 'torchaudio'",
        ),
        Step("weights", "ranks", 0.1, f"Load weight begin. avail mem={memory:.2f} GB"),
        Step("weights", "rank0", 0.4 * shards, "<shards>"),
        Step(
            "weights",
            "ranks",
            0.1,
            f"Load weight end. elapsed={0.4 * shards:.2f} s, type={kind}, avail mem=177.02 GB, mem usage=72.98 GB.",
        ),
        Step(
            "kv_cache",
            "ranks",
            0.2,
            "KV Cache is allocated. dtype: torch.bfloat16, #tokens: 4096, K size: 0.10 GB, V size: 0.10 GB",
        ),
        Step("kv_cache", "ranks", 0.1, "Memory pool end. avail mem=40.16 GB"),
        Step("cuda_graphs", "ranks", 0.2, "Capture target decode CUDA graph begin. backend=full, avail mem=40.10 GB"),
        Step(
            "cuda_graphs",
            "ranks",
            0.6,
            "Capture target decode CUDA graph end. bs=[1, 2, 4], elapsed=0.60 s, mem usage=0.61 GB",
        ),
        Step(
            "http",
            "rank0",
            0.1,
            "max_total_num_tokens=4096, chunked_prefill_size=4096, max_prefill_tokens=16384, "
            "max_running_requests=2048, context_len=2048, available_gpu_mem=39.49 GB",
        ),
    ]


def shard_bar(done: int, total: int) -> str:
    """One state of the real progress bar, which ends with no newline."""
    return (
        f"\rMulti-thread loading shards: {100 * done // max(total, 1):3d}% Completed | {done}/{total} [00:00<?, ?it/s]"
    )


def entry_warning() -> str:
    """The first lines of every start through `python -m`."""
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "launch_server.py")
    return (
        f"{path}:71: UserWarning: 'python -m sglang.launch_server' is still supported, but 'sglang serve' is the "
        "recommended entrypoint.\n  Example: sglang serve --model-path <model> [options]\n  warnings.warn(\n"
    )


def timings(seconds: float) -> str:
    """The machine-readable report that the main process prints once every rank is up."""
    return (
        f"Engine startup timings (s): load_weight={seconds:.2f}, kv_cache_allocation=0.30, scheduler_e2e=2.30, "
        "cuda_graph={prefill=0.00, decode=0.60, target_verify=0.00}, tokenizer_e2e=1.10"
    )


def prefill(tokens: int) -> str:
    """Rank 0's line for each batch of prompts."""
    return (
        f"Prefill batch, #new-seq: 1, #new-token: {tokens}, #cached-token: 0, token usage: 0.00, #running-req: 0, "
        "#queue-req: 0, #pending-token: 0, cuda graph: False, input throughput (token/s): 16.29"
    )
