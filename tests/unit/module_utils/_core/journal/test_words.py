# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cheap test that decides which lines are looked at."""

from __future__ import annotations

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal import words


@pytest.mark.parametrize("word", words._WORDS)
def test_every_word_is_found_whatever_stands_around_it(word: str) -> None:
    """In a short line, in a long one, in capitals, beside numbers and beside letters that are not ASCII."""
    for text in (word, word.upper(), f"12{word}34", f"\u00e9{word}\u4e2d", "1" * 500 + word + "x" * 500):
        assert words.interesting(text)
        assert words.interesting_bytes(text.encode())


def test_routine_passes_by() -> None:
    assert not words.interesting("Decode batch, #running-req: 64, #token: 90000, gen throughput (token/s): 4000.99")
