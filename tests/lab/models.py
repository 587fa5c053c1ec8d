# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hub's models: small, random, made from a seed; nothing is downloaded.

`lab/tiny-gpt2` is served by the real SGLang on a CPU. `lab/tiny-llama` cannot be: its rotary embedding wants
`vllm._custom_ops`, which is a real crash to test with. `lab/shards` is for transfers alone and needs no SGLang.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from pathlib import Path

from lab import builder, sglang_venv
from lab.places import CACHE, content_key
from lab.shell import locked

WRITER = Path(__file__).with_name("write_models.py")


def build() -> Path:
    """The hub's root directory: <organisation>/<model>/<files>."""
    path = (
        CACHE / "models" / content_key(WRITER.read_bytes(), Path(__file__).read_bytes(), sglang_venv.LOCK.read_bytes())
    )
    with locked(path.with_suffix(".lock")):
        if not path.exists():
            staged = path.with_suffix(".new")
            shutil.rmtree(staged, ignore_errors=True)
            staged.mkdir(parents=True)
            venv = sglang_venv.build("bookworm")
            builder.build(
                "bookworm",
                f"{sglang_venv.PREFIX}/bin/python /tmp/write_models.py /models/lab",
                binds={staged: "/models"},
                read_only={venv: sglang_venv.PREFIX, WRITER: "/tmp/write_models.py"},
            )
            write_shards(staged / "lab" / "shards")
            write_second_revision(staged / "lab" / "shards")
            os.replace(staged, path)
    return path


def write_shards(path: Path, shards: int = 4, tensors: int = 6, tensor_bytes: int = 1 << 20) -> None:
    """A model of random bytes in valid safetensors shards with an index (format: 8-byte length, JSON header, data)."""
    path.mkdir(parents=True)
    generator = random.Random(23)
    weight_map = {}
    for shard in range(1, shards + 1):
        name = f"model-{shard:05d}-of-{shards:05d}.safetensors"
        header, offset = {}, 0
        for tensor in range(tensors):
            key = f"model.layers.{shard}.{tensor}.weight"
            header[key] = {"dtype": "U8", "shape": [tensor_bytes], "data_offsets": [offset, offset + tensor_bytes]}
            weight_map[key] = name
            offset += tensor_bytes
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        (path / name).write_bytes(struct.pack("<Q", len(text)) + text + generator.randbytes(offset))
    index = {"metadata": {"total_size": shards * tensors * tensor_bytes}, "weight_map": weight_map}
    (path / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))
    (path / "config.json").write_text(json.dumps({"architectures": ["Shards"], "model_type": "shards"}, indent=2))


def write_second_revision(first: Path) -> None:
    """The revision `v2`: one shard of four is another one, and the configuration."""
    second = first.with_name(f"{first.name}-v2")
    shutil.copytree(first, second)
    shard = next(second.glob("*-00004-of-*"))
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)
    (second / "config.json").write_text('{"architectures": ["Shards"], "model_type": "shards", "revision": 2}')
    first.with_name(f"{first.name}.hub.json").write_text(json.dumps({"revisions": {"v2": second.name}}))
