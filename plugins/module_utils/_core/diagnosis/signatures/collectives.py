# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranks that talk to each other: NCCL, gloo, fabrics.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

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
