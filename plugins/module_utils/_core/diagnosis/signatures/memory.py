# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory: the GPU's, the host's, /dev/shm.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    WEAK,
    Remedy,
    Signature,
)

SIGNATURES = (
    Signature(
        id="gpu-out-of-memory",
        title="The GPU's memory is full",
        exception=r"CUDA out of memory|OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY",
        cause="Weights, KV cache and CUDA graphs together do not fit, or another process holds memory on the GPU.",
        remedies=(
            Remedy("server_args", "a lower --mem-fraction-static (0.05 less at a time)"),
            Remedy("server_args", "a lower --cuda-graph-max-bs-decode or --max-running-requests"),
            Remedy("host", "end the other processes that nvidia-smi lists"),
        ),
        reference="sgl-project/sglang#5285",
    ),
    Signature(
        id="kv-cache-does-not-fit",
        title="No memory is left for the KV cache",
        exception=r"Not enough memory\. Please try to increase --mem-fraction-static|KV cache.*-\d+\.\d+ Gi?B",
        cause="After loading the weights nothing of --mem-fraction-static is left for the KV cache.",
        remedies=(
            Remedy("server_args", "a higher --mem-fraction-static"),
            Remedy("server_args", "a higher --tp-size, or a quantized model"),
        ),
    ),
    Signature(
        id="gpu-memory-unbalanced",
        title="Another process uses one of the GPUs",
        exception=r"The memory capacity is unbalanced",
        cause="The GPUs have different amounts of free memory at the start.",
        remedies=(
            Remedy("host", "end the other processes that nvidia-smi lists"),
            Remedy("environment", "SGLANG_ENABLE_TP_MEMORY_INBALANCE_CHECK=0", note="then it only warns"),
        ),
    ),
    Signature(
        id="host-out-of-memory",
        title="The host ran out of memory",
        line=r"Out of memory: Killed process|oom-kill:constraint|Memory cgroup out of memory|by the OOM killer"
        r"|Failed with result 'oom-kill'",
        cause="The kernel's out-of-memory killer ended a process of the service.",
        remedies=(
            Remedy("host", "more memory, or no MemoryMax in the unit"),
            Remedy("server_args", "--weight-loader-prefetch-checkpoints off; fewer loading threads"),
        ),
    ),
    Signature(
        id="shared-memory-full",
        title="/dev/shm is full or too small",
        line=r"/dev/shm/\S+.*No space left on device",
        exception=r"/dev/shm[\s\S]*No space left on device|Bus error.*shared memory",
        cause="NCCL and the ranks exchange data through /dev/shm; it is too small or filled by leftovers of killed runs.",
        remedies=(Remedy("host", "a larger /dev/shm; delete leftovers /dev/shm/nccl-* and /dev/shm/sglang*"),),
        reference="sgl-project/sglang#4289",
    ),
    Signature(
        id="disk-full",
        title="A file system is full",
        exception=r"\[Errno 28\] No space left on device",
        cause="A file system that the service writes to (caches, /tmp, logs) has no space left.",
        remedies=(
            Remedy("host", "space on the file system of the path in the message, or SGLANG_CACHE_DIR elsewhere"),
        ),
        strength=WEAK,
    ),
)
