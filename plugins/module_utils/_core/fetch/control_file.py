# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether aria2 can go on from a control file, which it writes without waiting for the disk.

A power cut may leave it empty, cut off or full of zeros, and after an answer of a wrong length it names that length.
aria2 gives up on such a file each time it is asked ("Download aborted"). The format is in its "Technical Notes".

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import struct

# version, extensions, length of the info hash, which only BitTorrent has, piece length, total length, upload length,
# length of the bitmap
_HEAD = struct.Struct(">HIIIQQI")
_COUNT = struct.Struct(">I")
_PIECE = struct.Struct(">III")  # index, length, length of its bitmap


def is_usable(raw: bytes, size: int) -> bool:
    """Whether *raw* is the whole control file of a plain download of *size* bytes."""
    if len(raw) < _HEAD.size:
        return False
    version, extensions, hash_length, piece_bytes, total_bytes, _sent, bitmap_length = _HEAD.unpack_from(raw)
    if (version, extensions, hash_length, total_bytes) != (1, 0, 0, size) or not piece_bytes:
        return False
    pieces = -(-total_bytes // piece_bytes)
    at = _HEAD.size + bitmap_length
    if bitmap_length != -(-pieces // 8) or len(raw) < at + _COUNT.size:
        return False
    (under_way,) = _COUNT.unpack_from(raw, at)
    at += _COUNT.size
    for _piece in range(under_way):
        if len(raw) < at + _PIECE.size:
            return False
        index, length, bits = _PIECE.unpack_from(raw, at)
        if index >= pieces or not 0 < length <= piece_bytes:
            return False
        at += _PIECE.size + bits
    return len(raw) >= at
