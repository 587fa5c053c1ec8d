# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When silence means that a start hangs, and what counts as work although nothing is printed.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

# Seconds without a line, without reading and without a compiler at work, after which a phase counts as stuck. Where
# SGLang 0.5.23 has a limit of its own, ours is longer: its message says more than silence does.
STALL_SECONDS = {
    "startup": 600,  # imports, 15 s on two cores; minutes from a network file system, which shows as reading
    "tokenizer": 600,
    "distributed_init": 900,  # ranks and nodes find each other; they may start minutes apart
    "model_init": 900,
    "weight_load": 600,  # shows as reading; the barrier after it ends by itself after 480 s (load_model_utils.py:56)
    "kv_cache": 1800,  # attention kernels are compiled here, inside the process and without a line
    "autotune": 1800,
    "cuda_graph_capture": 1800,  # Triton, DeepGEMM and TileLang compile inside the process
    "http_start": 600,
    "warmup": 900,  # SGLANG_WARMUP_TIMEOUT is 600 s
    "serving": 600,  # the scheduler's watchdog speaks after 300 to 450 s
    "shutdown": 900,
}

# Heartbeats of an idle server read and touch little; loading 590 GB in an hour takes in 160 MB each second.
_BYTES_A_SECOND = 1 << 18
_INTERVAL_SECONDS = 5.0


def limit_of(phase: str, override: float = 0.0) -> float:
    """Seconds of silence that a phase may last; `override` stands for every phase."""
    return override or float(STALL_SECONDS.get(phase, 900))


@dataclass
class Intake:
    """What the unit's processes have read so far (bytes), as last looked at, and when (seconds)."""

    total: int = 0
    at: float = 0.0

    def is_work(self, total: int, now: float) -> bool:
        """True where they have read more since the last look than an idle process does."""
        elapsed = now - self.at
        if elapsed < _INTERVAL_SECONDS:
            return False
        first, grown = not self.at, total - self.total
        self.total, self.at = total, now
        return not first and grown > _BYTES_A_SECOND * elapsed
