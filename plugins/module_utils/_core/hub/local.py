# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the hub's own client keeps beside the files that it downloaded.

    <directory>/.cache/huggingface/download/<path>.metadata     three lines: commit, ETag, time (hf download --local-dir)
    <cache>/models--<organisation>--<name>/snapshots/<commit>/<path> -> ../../blobs/<ETag>      (hf download)

The ETag is the sha256 of a file kept in LFS and the git blob id of a small one (huggingface_hub 2.4,
_local_folder.py and file_download.py), so that a directory can be verified without asking anybody.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from typing import NamedTuple

METADATA_DIRECTORY = ".cache/huggingface/download"
METADATA_SUFFIX = ".metadata"
_BLOB = re.compile(r"/?blobs/([0-9a-f]+)\Z")
_SNAPSHOT = re.compile(r"/models--([^/]+)/snapshots/([0-9a-f]{40})\Z")
_HEX = re.compile(r"[0-9a-f]+\Z")


class Record(NamedTuple):
    commit: str
    digest: str


def digest_of_etag(etag: str) -> str | None:
    """The digest that an ETag of the hub is; None for one that says nothing about the content."""
    value = etag.strip().replace("W/", "").strip('"')
    kind = {64: "sha256", 40: "git-sha1"}.get(len(value))
    return f"{kind}:{value}" if kind and _HEX.match(value) else None


def parse_metadata(text: str) -> Record | None:
    """What a metadata file says; None where it is damaged."""
    lines = text.splitlines()
    digest = digest_of_etag(lines[1]) if len(lines) >= 2 else None
    return Record(lines[0].strip(), digest) if digest else None


def digest_of_link(target: str) -> str | None:
    """The digest that a link into the blobs of a cache stands for."""
    match = _BLOB.search(target)
    return digest_of_etag(match.group(1)) if match else None


def snapshot_of(path: str) -> tuple[str, str]:
    """Repository and commit of a snapshot in a cache; two empty strings where *path* is none."""
    match = _SNAPSHOT.search(path.rstrip("/"))
    return (match.group(1).replace("--", "/", 1), match.group(2)) if match else ("", "")
