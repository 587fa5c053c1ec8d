# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one warning that is harmless for every model but one: the served model's own module could not be imported.

SGLang tries to import every model at each start and says `Ignore import error when loading sglang.srt.models.X` for those
that fail. When X is the served model, the start dies later with "architectures are not supported".

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.matching import Match
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import Entry

_IGNORED = re.compile(r"Ignore import error when loading sglang\.srt\.models\.(\w+): (.*)")
_ARCHITECTURES = re.compile(r"Model architectures? \[([^\]]*)\]")


def with_ignored_import(match: Match, entries: list[Entry]) -> Match:
    """The same match, made precise where the log holds the import error of the served model's module."""
    named = _ARCHITECTURES.search(match.message)
    if not named:
        return match
    served = named.group(1).lower()
    for entry in entries:
        found = _IGNORED.search(entry.text)
        if found and found.group(1).replace("_", "") in served:
            return replace(
                match,
                cause=f"The module that implements it, {found.group(1)}, could not be imported: {found.group(2)}.",
                cause_line=entry.text.strip(),
            )
    return match
