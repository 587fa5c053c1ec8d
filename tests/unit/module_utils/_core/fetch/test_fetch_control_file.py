# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Control files as aria2 writes them are told from what a crash makes of them."""

from __future__ import annotations

import struct

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.control_file import is_usable

PIECE = 1 << 20
SIZE = 9 * PIECE + 5
# Ten pieces need two bytes of bitmap; one piece is under way, with 64 blocks of 16 KiB.
GOOD = (
    struct.pack(">HIIIQQI", 1, 0, 0, PIECE, SIZE, 0, 2)
    + b"\x80\x40"
    + struct.pack(">I", 1)
    + struct.pack(">III", 3, PIECE, 8)
    + bytes(8)
)


def test_what_aria2_writes_is_usable() -> None:
    assert is_usable(GOOD, SIZE)
    assert not is_usable(GOOD, SIZE - 1)


@pytest.mark.parametrize("length", range(len(GOOD)))
def test_nothing_that_was_cut_off_is(length: int) -> None:
    assert not is_usable(GOOD[:length], SIZE)


def test_nothing_but_zeros_is_not() -> None:
    assert not is_usable(bytes(len(GOOD)), SIZE)
    assert not is_usable(bytes(len(GOOD)), 0)


@pytest.mark.parametrize("at", [0, 1, 5, 9, 10, 21, 33, 36, 40, 44, 48])
def test_nothing_that_was_overwritten_in_its_structure_is(at: int) -> None:
    assert not is_usable(GOOD[:at] + b"\xff" + GOOD[at + 1 :], SIZE)
