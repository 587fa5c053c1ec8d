# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What terminals, progress bars and neighbours leave in a line.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
# `  37%|####  | 3/8 [00:12<00:20` and `0% Completed | 0/1 [00:00<?, ?it/s]`
_BAR = re.compile(r"\d%(?: {0,4}Completed)? {0,4}\|.{0,400}?\d/\d|\| {0,4}\d{1,9}/\d{1,9} {0,4}\[[\d:?]{1,12}<")
# A record begins, SGLang's with a stamp or torch's with a rank. Behind a blank it is its own line's.
_RECORD = re.compile(r"\[(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[\] .,]|rank\d+\]:)")
# Characters of one line that are looked at: its beginning says what, its end often why. A dump of token ids can be
# hundreds of kB, and what a pattern costs can grow with the square of a line's length.
LONGEST = 4000
_END = 1000


def clean_lines(text: str) -> list[str]:
    """Split raw text into readable lines: no escapes, of each progress bar only its last state, one writer a line."""
    lines: list[str] = []
    for raw in text.split("\n"):
        if "\x1b" in raw:
            raw = _ESCAPES.sub("", raw)
        if "\r" in raw:
            lines.extend(_last_states(raw))
        else:
            lines.append(raw)
    return [part for line in lines for part in split_glued(_printable(line))]


def _printable(line: str) -> str:
    line = shorten(line)
    return line if line.isprintable() else _CONTROL.sub("", line)


def shorten(line: str) -> str:
    """Cut the middle out of a line of more than `LONGEST` characters."""
    return line if len(line) <= LONGEST else f"{line[: LONGEST - _END]} ... {line[-_END:]}"


def _last_states(raw: str) -> list[str]:
    """A carriage return overwrites a progress bar, but must not swallow anything else."""
    parts = [shorten(part) for part in raw.split("\r") if part.strip()]
    if not parts:
        return [""]
    return [part for part in parts[:-1] if not _BAR.search(part) or len(split_glued(part)) > 1] + parts[-1:]


def split_glued(line: str) -> list[str]:
    """Separate two writers who met on one line."""
    if "[20" not in line[1:] and "[rank" not in line[1:]:
        return [line]
    begins = [found.start() for found in _RECORD.finditer(line, 1) if not line[found.start() - 1].isspace()]
    return [line[begin:end] for begin, end in zip([0, *begins], [*begins, len(line)])]
