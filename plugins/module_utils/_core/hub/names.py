# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that come from outside: a repository id, and paths that a hub lists and that become files here.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Iterable

# What this collection and aria2 keep beside the files; a repository must not bring its own.
RESERVED_SUFFIXES = (".aria2", ".plain")
RESERVED_ROOTS = (".model_download", ".partial-")

_REPOSITORY = re.compile(r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9_][\w.-]*\Z", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}\Z")


class NameRefused(Exception):  # noqa: N818  reads better where it is raised
    """A name that must not be used, as a sentence."""


def is_commit(revision: str) -> bool:
    """Whether *revision* is a full commit id, which never means anything else tomorrow."""
    return bool(_COMMIT.match(revision))


def check_repository(repository: str) -> None:
    """Accept ``name`` and ``organisation/name``."""
    if not _REPOSITORY.match(repository) or ".." in repository:
        raise NameRefused(f"{repository!r} is not a repository id; it looks like organisation/name")


def check_address(option: str, address: str) -> None:
    """Accept the base address of a hub, as *option* gives it."""
    _before, at, host = address.rpartition("@")
    if at:
        raise NameRefused(
            f"{option} has a user name or a password before its host {host!r}. Addresses stand in messages and results: "
            "leave it out, and give what the hub has to know as token"
        )
    if not address.startswith(("https://", "http://")):
        raise NameRefused(f"{option} is {address!r}; it starts with https:// or http://")


def check_paths(paths: Iterable[str], whose: str = "The repository") -> None:
    """Refuse a listing whose paths could write outside the model's directory or over each other.

    *whose* listing it is begins the sentence.
    """
    files: dict[str, str] = {}
    for path in paths:
        _check_path(path, whose)
        key = _canonical_caseless(path)
        if key in files:
            both = f"{files[key]!r} and {path!r}"
            raise NameRefused(f"{whose} lists {both}, which are one file on some file systems")
        files[key] = path
    for key, path in files.items():
        parts = key.split("/")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            if parent in files:
                raise NameRefused(f"{whose} lists {files[parent]!r} as a file and as the directory of {path!r}")


def _canonical_caseless(path: str) -> str:
    """Equal for what some file system takes for one name (The Unicode Standard, 3.13, definition D145)."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())


def _check_path(path: str, whose: str) -> None:
    parts = path.split("/")
    if not path or any(ord(character) < 32 or ord(character) == 127 for character in path):
        reason = "is empty or holds a control character"
    elif any(0xD800 <= ord(character) <= 0xDFFF for character in path):
        reason = "is not valid Unicode"
    elif "\\" in path or path.startswith(("/", "~")):
        reason = "is absolute or holds a backslash"
    elif any(part in ("", ".", "..") for part in parts):
        reason = "leaves its directory or has an empty part"
    elif any(len(part.encode("utf-8", "replace")) > 240 for part in parts):
        reason = "is longer than a file name may be"
    elif parts[0].startswith(RESERVED_ROOTS) or path.endswith(RESERVED_SUFFIXES):
        reason = "is reserved for the state of a download"
    else:
        return
    raise NameRefused(f"{whose} lists the path {path!r}, which {reason}; nothing of it is used")
