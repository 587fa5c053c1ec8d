# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""File systems: full, read-only, unreadable, gone. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import WEAK, Remedy, Signature

# All of these are errors of errno(3); the program dies of them wherever it happens to read or write, so they are weak.
SIGNATURES = (
    Signature(
        id="shared-memory-full",
        title="/dev/shm is full or too small",
        line=r"/dev/shm/.*No space left on device",
        exception=r"/dev/shm[\s\S]*No space left on device|Bus error.*shared memory",
        cause="NCCL and the ranks exchange data through /dev/shm; it is too small or filled by leftovers of killed runs.",
        remedies=(Remedy("host", "a larger /dev/shm; delete leftovers /dev/shm/nccl-* and /dev/shm/sglang*"),),
        reference="sgl-project/sglang#4289",
    ),
    Signature(
        id="disk-full",
        title="A file system is full",
        exception=r"No space left on device|Disk quota exceeded",
        cause="A file system that the service writes to (caches of compiled kernels, /tmp, logs) has no space left, or its "
        "user no quota. The advice about memory that SGLang may print below it does not apply.",
        remedies=(
            Remedy("host", "space on the file system of the path in the message, or SGLANG_CACHE_DIR elsewhere"),
        ),
        strength=WEAK,
        reference="errno(3), ENOSPC",
    ),
    Signature(
        id="file-system-read-only",
        title="A file system is read-only",
        exception=r"\[Errno 30\] Read-only file system",
        cause="The service writes to a path that is mounted read-only, or that ProtectSystem= of the unit protects.",
        remedies=(
            Remedy("host", "ReadWritePaths= or CacheDirectory= for it in the unit"),
            Remedy("host", "journalctl -k, where the file system turned read-only after an error of its disk"),
        ),
        strength=WEAK,
        reference="systemd.exec(5), ProtectSystem=",
    ),
    Signature(
        id="file-system-error",
        title="A disk could not be read",
        exception=r"\[Errno 5\] Input/output error",
        cause="The file system or its disk failed while the service read from it; the kernel's lines say which.",
        remedies=(
            Remedy("host", "journalctl -k | grep -iE 'I/O error|medium error'; replace the disk"),
            Remedy("model", "the weight files on a sound disk, checked by their hashes"),
        ),
        strength=WEAK,
        reference="errno(3), EIO",
    ),
    Signature(
        id="network-file-system-lost",
        title="A network file system lost a file",
        exception=r"\[Errno 116\] Stale file handle|\[Errno 107\] Transport endpoint is not connected"
        r"|\[Errno 112\] Host is down",
        cause="The file was replaced or the export was mounted anew while the service had it open.",
        remedies=(
            Remedy("host", "mount the file system again, then start the service"),
            Remedy("model", "weights and caches on a local disk"),
        ),
        strength=WEAK,
        reference="pytorch/pytorch#173679",
    ),
)
