# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Known failures as data, one file a subject. PRIVATE to the collection.

Order matters only within one event: the first signature that matches it describes it, so the narrow ones of a file stand
before the wide ones, and files with narrow signatures come first.
"""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import Signature
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.signatures import (
    arguments,
    build,
    collectives,
    gpu,
    host,
    imports,
    memory,
    runtime,
    storage,
    weights,
)

BUILTIN: tuple[Signature, ...] = (
    *arguments.SIGNATURES,
    *storage.SIGNATURES,
    *build.SIGNATURES,
    *memory.SIGNATURES,
    *imports.SIGNATURES,
    *gpu.SIGNATURES,
    *weights.SIGNATURES,
    *runtime.SIGNATURES,
    *collectives.SIGNATURES,
    *host.SIGNATURES,
    *arguments.FALLBACK,
)
