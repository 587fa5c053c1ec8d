# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Memory: the GPU's, the host's, /dev/shm. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import WEAK, Remedy, Signature

SIGNATURES = (
    Signature(
        id="gpu-out-of-memory",
        title="The GPU's memory is full",
        exception=r"CUDA out of memory|OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY|CUBLAS_STATUS_ALLOC_FAILED",
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
        exception=r"Not enough memory\. Please try to increase --mem-fraction-static|KV cache.*-\d+\.\d+ Gi?B"
        r"|To serve at least one request with|No available memory for the cache blocks",
        cause="After loading the weights nothing of --mem-fraction-static is left for the KV cache.",
        remedies=(
            Remedy("server_args", "a higher --mem-fraction-static"),
            Remedy("server_args", "a higher --tp-size, a smaller --context-length, or a quantized model"),
        ),
        reference="sglang/srt/model_executor/model_runner.py, vllm/v1/core/kv_cache_utils.py",
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
        reference="sglang/srt/model_executor/model_runner.py",
    ),
    Signature(
        id="host-memory-pressure",
        title="systemd-oomd killed the service",
        line=r"Killed /\S+ due to (?:memory pressure|swap)|systemd-oomd killed \d+ process",
        cause="systemd-oomd ends units whose slice stalls on memory, long before the kernel would; loading hundreds of "
        "gigabytes of weights through the page cache looks like that to it.",
        remedies=(
            Remedy("host", "ManagedOOMPreference=omit in the unit, or no ManagedOOMMemoryPressure=kill for its slice"),
            Remedy("host", "more memory"),
        ),
        reference="systemd-oomd.service(8)",
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
        reference="systemd.service(5), OOMPolicy=",
    ),
    Signature(
        id="host-cache-too-large",
        title="The hierarchical cache does not fit into the host's memory",
        exception=r"Not enough host memory available\. Requesting (?P<asked>[\d.]+ \w+) but only have (?P<free>[\d.]+ \w+)",
        cause="--enable-hierarchical-cache asked for {asked} of the host's memory; {free} are free.",
        remedies=(
            Remedy("server_args", "a lower --hicache-ratio or --hicache-size"),
            Remedy("server_args", "no --enable-hierarchical-cache"),
        ),
        reference="sglang/srt/mem_cache/memory_pool_host.py",
    ),
    Signature(
        id="host-allocation-failed",
        title="The host's memory could not be allocated",
        exception=r"std::bad_alloc|^MemoryError\b|DefaultCPUAllocator: can't allocate memory"
        r"|\[Errno 12\] Cannot allocate memory|cudaHostAlloc failed",
        cause="The process asked for more memory than the host or the unit's limits (MemoryMax=, LimitAS=) give.",
        remedies=(
            Remedy("host", "more memory, no MemoryMax= or LimitAS= in the unit, vm.overcommit_memory not 2"),
            Remedy("server_args", "fewer loading threads (--model-loader-extra-config), a smaller hierarchical cache"),
        ),
        strength=WEAK,
        reference="errno(3), ENOMEM",
    ),
)
