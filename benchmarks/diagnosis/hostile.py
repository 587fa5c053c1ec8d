# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every pattern of the diagnosis against the longest lines that it can meet, made to let a pattern search in vain."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from typing import Any, Iterator, Pattern

from ansible_collections.inferops.sglang.plugins.module_utils._core import diagnosis, journal
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.signatures import BUILTIN
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.text import LONGEST

REPEATED = ("1", "a", " ", "a ", "a.", "/", '"', "(", "1/", "% ", "|", "a:1:", "error ", "--", "[")


def slowest() -> tuple[float, str]:
    """Seconds of one search, and the pattern that took them."""
    worst = (0.0, "")
    for name, pattern in patterns():
        words = re.findall(r"[A-Za-z :_/]{4,}", pattern.pattern)[:3]
        for seed in (*REPEATED, *words, *(word + " 1" for word in words)):
            line = (seed * LONGEST)[:LONGEST]
            begin = time.process_time()
            pattern.search(line)
            worst = max(worst, (time.process_time() - begin, name))
    return worst


def patterns() -> Iterator[tuple[str, Pattern[str]]]:
    """All patterns with their names: those of the rules, and those of the signatures."""
    for package in (journal, diagnosis):
        for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            for name, value in vars(importlib.import_module(found.name)).items():
                yield from ((f"{found.name}.{name}", one) for one in flat(value))
    for signature in BUILTIN:
        for part in ("exception", "frames", "line", "nearby"):
            text = getattr(signature, part)
            if text:
                yield f"{signature.id}.{part}", re.compile(text, re.IGNORECASE | re.MULTILINE)


def flat(value: Any) -> Iterator[Pattern[str]]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from flat(one)
