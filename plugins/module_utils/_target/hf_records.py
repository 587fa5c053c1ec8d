# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records that `hf download --local-dir` keeps, so that it takes a directory of ours for one of its own.

One file of three lines for each file of the model, `.cache/huggingface/download/<path>.metadata`: commit, ETag, and
when that was known to be true; a record older than its file is ignored (huggingface_hub, _local_folder.py).

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import os
from typing import Iterable

from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import ManifestFile

RECORDS = ".cache/huggingface/download"


def record_path(path: str) -> str:
    """Where the record of the file *path* lies, below the model's directory."""
    return f"{RECORDS}/{path}.metadata"


def write_records(directory: str, commit: str, files: Iterable[ManifestFile], now: float, check: bool = False) -> bool:
    """Say that *files* are those of *commit*; returns whether that was not said before. *check*: only look."""
    lacking = False
    for file in files:
        place = os.path.join(directory, record_path(file.path))
        said = [commit, file.digest.partition(":")[2]]
        if _said(place)[:2] == said:
            continue
        lacking = True
        if check:
            break
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place + ".new", "w", encoding="utf-8") as stream:
            stream.write("\n".join([*said, str(now)]) + "\n")
        os.replace(place + ".new", place)
    return lacking


def remove_record(directory: str, path: str) -> None:
    with contextlib.suppress(OSError):
        os.remove(os.path.join(directory, record_path(path)))


def _said(place: str) -> list[str]:
    try:
        with open(place, encoding="utf-8") as stream:
            return stream.read().split("\n")
    except (OSError, UnicodeDecodeError):
        return []
