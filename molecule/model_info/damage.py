# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a host: copies of a model, each with one thing wrong, and safetensors files that break the format's rules."""

from __future__ import annotations

import shutil
import struct
import sys
from pathlib import Path

MIB = 1 << 20
SHARD = "model-00002-of-00004.safetensors"


def copy(model: Path, place: Path) -> Path:
    """A copy with the records that the hub's client keeps; its second shard."""
    shutil.copytree(model, place)
    return place / SHARD


def write_header(path: Path, header: bytes, data_bytes: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(range(256)) * (data_bytes // 256))


def main() -> None:
    model, root = Path(sys.argv[1]), Path(sys.argv[2])

    flipped = copy(model, root / "flipped")
    content = bytearray(flipped.read_bytes())
    content[3 * MIB] ^= 1
    flipped.write_bytes(content)

    truncated = copy(model, root / "truncated")
    truncated.write_bytes(truncated.read_bytes()[: 5 * MIB])

    hole = copy(model, root / "hole")
    content = bytearray(hole.read_bytes())
    with hole.open("wb") as stream:
        stream.write(content[: 2 * MIB])
        stream.seek(3 * MIB)
        stream.write(content[3 * MIB :])

    extra = copy(model, root / "extra")
    shutil.copy(extra, extra.with_name("model-00005-of-00005.safetensors"))

    tensor = b'"lm_head.weight":{"dtype":"BF16","shape":[16,16],"data_offsets":[0,512]}'
    write_header(root / "duplicate" / "model.safetensors", b"{%s,%s}" % (tensor, tensor), 512)
    write_header(root / "header" / "model.safetensors", b"{%s" % tensor, 512)
    write_header(root / "shape" / "model.safetensors", b"{%s}" % tensor.replace(b"16,16", b"16,17"), 512)
    norm = b'"norm.weight":{"dtype":"F32","shape":[64],"data_offsets":[512,768]}'
    write_header(root / "right" / "model.safetensors", b'{"__metadata__":{"format":"pt"},%s,%s}' % (tensor, norm), 768)


if __name__ == "__main__":
    main()
