# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a file really is that carries the name of weights or of configuration.

The texts are those that hubs, proxies and Git LFS leave behind; see https://git-lfs.com for the pointer.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import json
from typing import Callable

ReadAt = Callable[[int, int], bytes]
LOOK_BYTES = 512
LFS_POINTER_START = b"version https://git-lfs.github.com/spec/v1"
WHOLE_JSON_BYTES = 1024 * 1024
# Files of these names are web pages on purpose, or may begin with markup.
_MARKUP_SUFFIXES = (".html", ".htm", ".md", ".svg", ".xml")
_ERRORS = (b'{"error', b"entry not found", b"invalid", b"access to model", b"repository not found", b"access denied")


def lfs_pointer(start: bytes) -> str | None:
    """The sentence for a Git LFS pointer. It comes from a clone without LFS, or from a copy of such a clone."""
    if not start.startswith(LFS_POINTER_START):
        return None
    return "it is a Git LFS pointer, a text of some 130 bytes that stands for the content, not the content"


def web_page(start: bytes) -> str | None:
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<html", b"<!doctype html", b"<head", b"<?xml")):
        return "it is a web page, most likely a login or error page saved in place of the content"
    return None


def impostor(path: str, start: bytes, file_bytes: int) -> str | None:
    """The sentence for a file of any kind that cannot be what its name says; None where it may be."""
    if file_bytes < 1024 and start.startswith(LFS_POINTER_START):
        return lfs_pointer(start)
    if path.endswith(_MARKUP_SUFFIXES):
        return None
    return web_page(start)


def broken_json(path: str, read_at: ReadAt, file_bytes: int) -> str | None:
    """The sentence for a file named .json that is none; a large one is looked at at both ends only."""
    if not path.endswith(".json") or path.endswith(".safetensors.index.json"):
        return None  # an index is read in full by whoever compares it
    if file_bytes <= WHOLE_JSON_BYTES:
        try:
            json.loads(read_at(0, file_bytes).decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            return f"it is not valid JSON: {error}"
        return None
    first, last = read_at(0, LOOK_BYTES).lstrip()[:1], read_at(file_bytes - LOOK_BYTES, LOOK_BYTES).rstrip()[-1:]
    if first + last not in (b"{}", b"[]"):
        return f"it is not valid JSON: it begins with {_shown(first)} and ends with {_shown(last)}"
    return None


def _shown(character: bytes) -> str:
    return repr(character.decode("utf-8", "replace"))


def instead_of_header(start: bytes, length: int, longest: int) -> str:
    """What a file is whose first eight bytes are no sensible length of a safetensors header."""
    sentence = lfs_pointer(start) or web_page(start)
    if sentence:
        return sentence
    if start.lstrip().lower().startswith(_ERRORS):
        return f"it is an error message saved in place of the weights: {start[:80].decode('utf-8', 'replace')!r}"
    if start.startswith(b"PK\x03\x04"):
        return "it is a zip archive, as PyTorch's .bin and .pt files are, under a name of safetensors"
    if start.startswith(b"\x1f\x8b"):
        return "it is compressed with gzip, as by a server or proxy that compresses what it sends"
    if start.startswith(b"GGUF"):
        return "it is a GGUF file under a name of safetensors"
    return f"its first 8 bytes give a header of {length} bytes, more than the {longest} any reader accepts"
