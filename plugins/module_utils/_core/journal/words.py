# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cheap test that comes before every expensive one.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import functools

# One of these words stands in every line that any rule here or any signature could care about.
_WORDS = (
    "error", "exception", "fatal", "fail", "traceback", "warn", "terminate", "killed", "crash", "xid", "oom",
    "timeout", "timed out", "not found", "not supported", "unsupported", "cannot", "could not", "unexpected",
    "sigquit", "sigterm", "abort", "denied", "scheduler", "stopp", "suppressed", "exit", "what():", "too quickly",
    "kill_process", "ignore import", "incorrect regex", "no accelerator", "undefined symbol", "no space", "out of",
    "keyboardinterrupt", "memory pressure", "bad interpreter", "required file", "corrupt", "malloc(", "free()",
    "smashing", "segmentation", "illegal instr",
    "deactivated", "unbalanced", "not compatible", "too old", "connection", "broken pipe", "leaked", "reached monitored",
)  # fmt: skip


_RAW_WORDS = tuple(word.encode() for word in _WORDS)
_SHORT = 400


def interesting(text: str) -> bool:
    """A cheap test that lets the thousands of other lines pass by."""
    return interesting_bytes(text.encode("ascii", "replace"))


def interesting_bytes(text: bytes) -> bool:
    """The same for a line that is not decoded."""
    # No word has a digit, and without their digits most lines of a busy server are one of a few.
    text = text.translate(None, b"0123456789")
    return _known(text) if len(text) <= _SHORT else _holds_a_word(text)


def _holds_a_word(text: bytes) -> bool:
    lowered = text.lower()
    for word in _RAW_WORDS:  # noqa: SIM110 (twice as fast as any(), and it runs for every line of the log)
        if word in lowered:
            return True
    return False


_known = functools.lru_cache(maxsize=1000)(_holds_a_word)
