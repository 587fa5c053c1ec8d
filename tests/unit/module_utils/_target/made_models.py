# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small models to damage: real headers, real indexes, bodies that are not zeros."""

from __future__ import annotations

import hashlib
import json
import random
import struct
from pathlib import Path
from typing import Any, Mapping, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import (
    Manifest,
    ManifestFile,
    dump_manifest,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.digests import digest_of, kind_of
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.receipts import dump_receipts, receipt_for

COMMIT = 40 * "c"
INDEX = "model.safetensors.index.json"
PIECE_BYTES = 1 << 20  # what aria2 divides a file into
BLOCK_BYTES = 16 * 1024  # what it remembers of a piece under way


def shard_name(number: int, count: int) -> str:
    return f"model-{number:05d}-of-{count:05d}.safetensors"


def write_shard(file: Path, tensors: Mapping[str, int]) -> None:
    """*tensors* maps names to sizes in bytes, all of type U8."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, size in tensors.items():
        header[name] = {"dtype": "U8", "shape": [size], "data_offsets": [end, end + size]}
        end += size
    raw = json.dumps(header).encode()
    raw += b" " * (-len(raw) % 8)
    file.write_bytes(struct.pack("<Q", len(raw)) + raw + random.Random(file.name).randbytes(end))


def write_index(root: Path, weight_map: Mapping[str, str], total_size: Any) -> None:
    (root / INDEX).write_text(json.dumps({"metadata": {"total_size": total_size}, "weight_map": weight_map}))


def write_model(root: Path, shards: int = 2, tensor_bytes: int = 64 * 1024) -> None:
    """Two tensors a shard, an index that fits, a configuration and a tokenizer."""
    root.mkdir(parents=True, exist_ok=True)
    weight_map = {}
    for number in range(1, shards + 1):
        names = [f"layers.{number}.{part}.weight" for part in ("up", "down")]
        write_shard(root / shard_name(number, shards), dict.fromkeys(names, tensor_bytes))
        weight_map.update({name: shard_name(number, shards) for name in names})
    write_index(root, weight_map, shards * 2 * tensor_bytes)
    (root / "config.json").write_text('{"model_type": "made"}')
    (root / "tokenizer.json").write_text('{"version": "1.0"}')


def manifest_of(root: Path, paths: Sequence[str] | None = None) -> Manifest:
    """The listing of *root* as a hub would have it: git blob ids for small files, sha256 for weights."""
    files = []
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if file.is_file() and not path.startswith((".model_download", ".cache")) and (paths is None or path in paths):
            kind = "sha256" if path.endswith((".safetensors", ".bin")) else "git-sha1"
            with file.open("rb") as stream:
                files.append(ManifestFile(path, file.stat().st_size, digest_of(stream, kind, file.stat().st_size)))
    return Manifest("org/made", COMMIT, tuple(files))


def write_receipts(root: Path, manifest: Manifest) -> None:
    """As a finished download leaves them."""
    state = root / ".model_download"
    state.mkdir(exist_ok=True)
    receipts = {file.path: receipt_for((root / file.path).stat(), file.digest, COMMIT) for file in manifest.files}
    (state / "receipts.json").write_text(dump_receipts(receipts))
    (state / "manifest.json").write_text(dump_manifest(manifest))
    (state / "lock").touch()


def write_hub_metadata(root: Path, manifest: Manifest) -> None:
    """As ``hf download --local-dir`` leaves it."""
    for file in manifest.files:
        note = root / ".cache/huggingface/download" / f"{file.path}.metadata"
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(f"{COMMIT}\n{file.digest.partition(':')[2]}\n1750000000.0\n")


def write_hub_cache(cache: Path, root: Path) -> Path:
    """The model in *root* as a snapshot in a cache of ``hf download``; returns the snapshot."""
    home = cache / "models--org--made"
    snapshot = home / "snapshots" / COMMIT
    (home / "blobs").mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for file in manifest_of(root).files:
        content = (root / file.path).read_bytes()
        etag = file.digest.partition(":")[2]
        assert kind_of(file.digest) == "git-sha1" or hashlib.sha256(content).hexdigest() == etag
        (home / "blobs" / etag).write_bytes(content)
        (snapshot / file.path).symlink_to(f"../../blobs/{etag}")
    return snapshot


def control_file(size: int, pieces_there: bool, piece_bytes: int = PIECE_BYTES, under_way: Sequence[int] = ()) -> bytes:
    """As aria2 writes it (technical notes, "Control file format", version 1).

    Of the pieces *under_way*, by number, the first block is there.
    """
    pieces = -(-size // piece_bytes)
    bits = (1 << pieces) - 1 if pieces_there else 0
    length = -(-pieces // 8)
    bitmap = (bits << (8 * length - pieces)).to_bytes(length, "big")
    head = struct.pack(">HIIIQQI", 1, 0, 0, piece_bytes, size, 0, length)
    entries = [_piece_under_way(number, min(piece_bytes, size - number * piece_bytes)) for number in under_way]
    return head + bitmap + struct.pack(">I", len(entries)) + b"".join(entries)


def _piece_under_way(number: int, size: int) -> bytes:
    length = -(-size // (8 * BLOCK_BYTES))
    return struct.pack(">III", number, size, length) + b"\x80".ljust(length, b"\0")
