# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two models that are looked at: one to hash, and the shape of a 590 GB one."""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path

FILES, FILE_BYTES = 12, 125 * 10**6
SHARDS, TENSORS, MODEL_BYTES = 64, 1150, 590 * 10**9


def header_of(tensors: dict[str, int]) -> bytes:
    entries, end = {}, 0
    for name, size in tensors.items():
        entries[name] = {"dtype": "BF16", "shape": [size // 2], "data_offsets": [end, end + size]}
        end += size
    raw = json.dumps(entries, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    return struct.pack("<Q", len(raw)) + raw


def write_index(root: Path, weight_map: dict[str, str], total: int) -> None:
    text = json.dumps({"metadata": {"total_size": total}, "weight_map": weight_map})
    (root / "model.safetensors.index.json").write_text(text)


def write_dense(root: Path) -> None:
    """12 shards of random bytes, 1.5 GB: as many as stay in the page cache of a small machine."""
    root.mkdir(parents=True)
    weight_map = {}
    for number in range(1, FILES + 1):
        name, tensor = f"model-{number:05d}-of-{FILES:05d}.safetensors", f"layers.{number}.weight"
        with (root / name).open("wb") as stream:
            stream.write(header_of({tensor: FILE_BYTES}))
            for _block in range(FILE_BYTES // 10**6):
                stream.write(os.urandom(10**6))
        weight_map[tensor] = name
    write_index(root, weight_map, FILES * FILE_BYTES)
    (root / "config.json").write_text("{}")


def write_shape(root: Path) -> None:
    """64 shards with real headers, 73,600 tensors of experts, and no data behind them: sparse files."""
    root.mkdir(parents=True)
    weight_map, total = {}, 0
    size = MODEL_BYTES // SHARDS // TENSORS // 16 * 16
    for number in range(1, SHARDS + 1):
        name = f"model-{number:05d}-of-{SHARDS:06d}.safetensors"
        tensors = {
            f"language_model.model.layers.{number}.mlp.experts.{place // 3}.{part}.weight_packed": size
            for place in range(TENSORS)
            for part in [("gate_proj", "up_proj", "down_proj")[place % 3]]
        }
        header = header_of(tensors)
        with (root / name).open("wb") as stream:
            stream.write(header)
            stream.truncate(len(header) + TENSORS * size)
        weight_map.update(dict.fromkeys(tensors, name))
        total += TENSORS * size
    write_index(root, weight_map, total)
    (root / "config.json").write_text("{}")
