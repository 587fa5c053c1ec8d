# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the contents of a venv get from the reference to the target, chunk by chunk.

Note that this plugin util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
from typing import Callable, NamedTuple

from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import manifest, transfer
from ansible_collections.inferops.sglang.plugins.plugin_utils.peer import HostSide
from ansible_collections.inferops.sglang.plugins.plugin_utils.relay import Chunk, chunks, relay

PACK = "inferops.sglang.venv_pack"
RECEIVE = "inferops.sglang.venv_receive"


class ChangedError(Exception):
    """Something arrived with other bytes than the manifest says: the reference changed on the way."""


class Load(NamedTuple):
    """What is to be moved: the tree's *path*, the list of *contents* on the target, and their *bytes*.

    The manifest lies in both places; *compression* is one that both hosts know.
    """

    path: str
    contents: str
    bytes: int
    manifest_here: str
    manifest_there: str
    compression: str
    chunk_bytes: int


class Courier:
    """Moves a load from *reference* to *target*, by way of the directory *work* on the controller."""

    def __init__(self, reference: HostSide, target: HostSide, work: str) -> None:
        self._reference = reference
        self._target = target
        self._work = work

    def move(self, load: Load, moved: Callable[[int], None]) -> None:
        """Move all of it. *moved* is called after each chunk with the bytes that have arrived so far."""
        files = self._tell_reference(load)
        relay(
            chunks(load.bytes, load.chunk_bytes),
            take=lambda part: self._take(load, files, part),
            give=lambda part, local: self._give(load, part, local),
            done=lambda part: moved(part.offset + part.length),
        )

    def _tell_reference(self, load: Load) -> str:
        """Turn the target's wishes into files of the reference's manifest, so that it can ask for nothing else."""
        contents = os.path.join(self._work, "contents.json")
        self._target.fetch(load.contents, contents)
        files = os.path.join(self._work, "files.json")
        transfer.save_files(files, transfer.load_contents(contents), manifest.load(load.manifest_here))
        return self._reference.put(files, "files.json")

    def _take(self, load: Load, files: str, part: Chunk) -> str:
        packed = self._reference.run(
            PACK,
            step="chunk",
            path=load.path,
            exchange=self._reference.exchange,
            files=files,
            compression=load.compression,
            **part._asdict(),
        )["chunk"]
        local = os.path.join(self._work, os.path.basename(packed))
        self._reference.fetch(packed, local)
        return local

    def _give(self, load: Load, part: Chunk, local: str) -> None:
        answer = self._target.run(
            RECEIVE,
            step="receive",
            path=load.path,
            exchange=self._target.exchange,
            manifest=load.manifest_there,
            contents=load.contents,
            chunk=self._target.put(local, os.path.basename(local)),
            compression=load.compression,
            **part._asdict(),
        )
        if answer["wrong"]:
            raise ChangedError(", ".join(answer["wrong"][:5]))
