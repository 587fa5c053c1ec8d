# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines that show it, short enough to read and free of secrets.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import Event
from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.noise import TERMINAL
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import SYSTEMD, Entry
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.prefix import printable_time

MOST_LINES = 40
_LONGEST = 400
_MARKERS = re.compile(r"^\s*[\^~]+\s*$")
_USAGE = re.compile(r"^\s*(?:usage: |\[-{1,2}\w)|^ {8,}[\[|{(<]")
_SECRETS = (
    re.compile(r"((?:admin_)?api_key['\"]?\s*[:=]\s*)(?!None\b)(['\"]?)[^'\",\s)]+\2", re.IGNORECASE),
    re.compile(r"(--(?:admin-)?api-key[= ])\S+"),
    re.compile(r"(\bBearer )[\w.~+/=-]+"),
    re.compile(r"()\bhf_[A-Za-z0-9]{8,}"),
    re.compile(r"((?:HF_TOKEN|HUGGING_FACE_HUB_TOKEN|\b\w*(?:PASSWORD|SECRET|_KEY))=)\S+"),
)


def redact(text: str) -> str:
    """Remove what must not be shown: keys and tokens, which the program prints in its `server_args=` line."""
    for pattern in _SECRETS:
        text = pattern.sub(r"\1***", text)
    return text


def shorten(text: str, longest: int = _LONGEST) -> str:
    """Cut the middle out of a long line: its beginning says what, its end often why."""
    text = text.strip()
    if len(text) <= longest:
        return text
    return f"{text[: longest * 2 // 3]} ... {text[-longest // 4 :]}"


def show(entry: Entry) -> str:
    """One line with its time and writer."""
    writer = " ".join(part for part in (entry.rank, f"pid {entry.pid}" if entry.pid else "") if part)
    prefix = " ".join(part for part in (printable_time(entry.time), f"[{writer}]" if writer else "") if part)
    text = entry.text.rstrip()
    if len(text) > _LONGEST:
        text = text[: _LONGEST * 2 // 3] + " ... " + text[-_LONGEST // 4 :]
    return redact(f"{prefix} {text}" if prefix else text)


def collect(entries: list[Entry], event: Event | None, failed: bool) -> list[str]:
    """At most 40 lines: what led there, the first and last frames with the exception, and how it ended."""
    if not failed or not entries:
        return []
    if event is None:
        return [show(entry) for entry in _readable(entries)[-20:]]
    first, last = event.index, min(event.last, len(entries) - 1)
    stream = entries[first].stream
    near = _readable(entries[max(0, first - 40) : first])
    before = [e for e in near if e.stream == stream][-4:] or near[-4:]  # other ranks' lines say little about this one
    body = _readable([e for e in entries[first : last + 1] if e.stream == stream])
    if len(body) > 26:
        body = body[:3] + body[-23:]
    end = [e for e in entries[last + 1 :] if e.source == SYSTEMD or TERMINAL.search(e.text)]
    return [show(entry) for entry in before + body + end[-8:]][:MOST_LINES]


def _readable(entries: list[Entry]) -> list[Entry]:
    return [
        entry
        for entry in entries
        if entry.text.strip() and not _MARKERS.match(entry.text) and not _USAGE.match(entry.text)
    ]
