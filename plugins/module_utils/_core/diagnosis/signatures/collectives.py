# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks that talk to each other: NCCL, gloo, fabrics. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    SECONDARY,
    WEAK,
    Remedy,
    Signature,
)

SIGNATURES = (
    Signature(
        id="infiniband-error",
        title="The InfiniBand or RoCE transport failed",
        line=r"NCCL WARN NET/IB : Got completion .* with error (?P<code>\d+)",
        cause="The network between the ranks lost a transfer (retry exceeded): wrong network cards, GID or MTU.",
        remedies=(
            Remedy("environment", "NCCL_IB_HCA with the right cards, NCCL_IB_GID_INDEX"),
            Remedy("environment", "NCCL_IB_DISABLE=1, to prove it"),
        ),
        reference="pytorch/pytorch#81628",
    ),
    Signature(
        id="fabric-unreachable",
        title="The network fabric does not reach the other rank",
        line=r"NET/OFI Request .* completed with error",
        exception=r"NET/OFI Request .* completed with error",
        cause="The fabric provider (OFI) could not deliver to a peer.",
        remedies=(Remedy("host", "the network plugin's and the fabric's configuration"),),
        reference="NVIDIA/nccl#1928",
    ),
    Signature(
        id="collective-timeout",
        title="A collective operation timed out",
        exception=r"Watchdog caught collective operation timeout",
        line=r"Watchdog caught collective operation timeout: \w+\(SeqNum=\d+, OpType=(?P<operation>\w+)",
        cause="One rank did not take part in a collective operation for ten minutes: it hangs or its link is broken.",
        remedies=(Remedy("host", "NVLink and InfiniBand state, and journalctl -k | grep -i xid, of the silent rank"),),
        reference="sgl-project/sglang#18421",
    ),
    Signature(
        id="deepep-timeout",
        title="DeepEP waited in vain for another rank",
        line=r"DeepEP timeout check failed",
        cause="An all-to-all receive did not complete: a peer is dead or the network saturated.",
        remedies=(Remedy("server_args", "lower concurrency or --chunked-prefill-size; check RDMA"),),
        reference="deepseek-ai/DeepEP#707",
    ),
    Signature(
        id="nccl-memory-export",
        title="NCCL cannot use CUDA's shareable memory here",
        exception=r"NCCL error: unhandled cuda error|ncclUnhandledCudaError",
        nearby=r"NCCL WARN Cuda failure.*'operation not supported'",
        cause="The driver, the virtual machine or the container does not offer a kind of CUDA memory that this NCCL asks for "
        "(memory pools, fabric handles).",
        remedies=(
            Remedy("host", "unified memory (UVM) enabled for the virtual GPU; a driver that supports this NCCL"),
            Remedy("environment", "NCCL_CUMEM_ENABLE=0", note="SGLang sets it by itself unless the unit does"),
        ),
        reference="NVIDIA/nccl#2101",
    ),
    Signature(
        id="nccl-cuda-error",
        title="A CUDA call inside NCCL failed",
        exception=r"NCCL error: unhandled cuda error|ncclUnhandledCudaError",
        cause="NCCL does not say which; the first 'NCCL WARN' line does, or the kernel's Xid and SXid lines.",
        remedies=(
            Remedy("environment", "NCCL_DEBUG=WARN", note="then the first 'NCCL WARN' line tells"),
            Remedy("manual", "journalctl -k | grep -iE 'xid|nvswitch'"),
        ),
        strength=WEAK,
        reference="NVIDIA/nccl#1410",
    ),
    Signature(
        id="network-interface-unknown",
        title="A network interface cannot be used",
        exception=r"Unable to find address for: |Unable to find interface |no socket interface found",
        cause="GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME names an interface that this host does not have or that has no "
        "address; without them the host's own name may resolve to no address of it.",
        remedies=(
            Remedy("environment", "GLOO_SOCKET_IFNAME and NCCL_SOCKET_IFNAME with an interface that `ip -br a` lists"),
            Remedy("host", "the host's name in /etc/hosts with its real address"),
        ),
        reference="pytorch, third_party/gloo/gloo/transport/tcp/device.cc",
    ),
    Signature(
        id="nvshmem-failed",
        title="NVSHMEM could not connect the ranks",
        line=r"nvshmem\S*\.(?:cpp|cu):\d+: non-zero status: \d+ (?P<what>\w.*)",
        cause="DeepEP's transport failed ({what}): the InfiniBand cards are not usable by the service (no IBGDA, no peer memory, "
        "a container without the devices), or a link is down.",
        remedies=(
            Remedy("environment", "NVSHMEM_IB_ENABLE_IBGDA, NVSHMEM_HCA_LIST and NCCL_IB_HCA with the right cards"),
            Remedy("host", "nvidia_peermem loaded, PeerMappingOverride=1 for the driver; ibstat shows Active"),
            Remedy("server_args", "no --moe-a2a-backend deepep"),
        ),
        reference="sgl-project/sglang#7450",
    ),
    Signature(
        id="transfer-engine-failed",
        title="The transfer engine found no usable network card",
        exception=r"Mooncake Transfer Engine initialization failed|NIXL_ERR_\w+",
        cause="Disaggregated serving moves the KV cache by RDMA; --disaggregation-ib-device names a card that this host does "
        "not have, or the service may not open it.",
        remedies=(
            Remedy("server_args", "--disaggregation-ib-device with cards that ibv_devices lists"),
            Remedy("host", "LimitMEMLOCK=infinity in the unit, access to /dev/infiniband", True),
        ),
        reference="kvcache-ai/Mooncake#257",
    ),
    Signature(
        id="locked-memory-limit",
        title="The service may not lock enough memory for RDMA",
        exception=r"NCCL error: unhandled system error|unhandled system error \(run with NCCL_DEBUG",
        nearby=r"ibv_(?:create_cq|create_qp|reg_mr\w*).* failed.*(?:Cannot allocate memory|error 12)",
        cause="NCCL registers memory with the InfiniBand card, and the unit's limit of locked memory is too low.",
        remedies=(Remedy("host", "LimitMEMLOCK=infinity in the unit", True),),
        reference="NCCL user guide, troubleshooting, RDMA",
    ),
    Signature(
        id="nccl-system-error",
        title="A system call inside NCCL failed",
        exception=r"NCCL error: unhandled system error|unhandled system error \(run with NCCL_DEBUG",
        cause="NCCL does not say which: most often /dev/shm, the wrong network interface, or the limit of locked memory.",
        remedies=(
            Remedy("host", "LimitMEMLOCK=infinity in the unit; a larger /dev/shm", True),
            Remedy("environment", "NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME with the right interface"),
            Remedy("environment", "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET; then the first 'NCCL WARN' line tells"),
        ),
        strength=WEAK,
        reference="sgl-project/sglang#8974",
    ),
    Signature(
        id="peer-lost",
        title="Another rank died first",
        exception=r"Connection (?:closed|reset) by|ncclRemoteError|remote process exited or there was a network error"
        r"|successfully reached monitoredBarrier|Broken pipe|\"?should dump\"? flag",
        line=r"successfully reached monitoredBarrier",
        cause="This rank only lost its peer. The cause is on the rank that died first; its lines are not in this log.",
        remedies=(Remedy("manual", "look at the log of the other node or rank"),),
        strength=SECONDARY,
        reference="sgl-project/sglang#4205",
    ),
)
