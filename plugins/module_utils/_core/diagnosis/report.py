# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A diagnosis in words: the sentence that a person needs, and the lines that show it.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from typing import Any


def headline(unit: str, diagnosis: dict[str, Any]) -> str:
    """One paragraph: what died, when, of what, why, and the first thing to change. Never a consequence as the cause."""
    sentences = [f"{unit} died while {diagnosis['phase_title']}: {what(diagnosis)}{_where(diagnosis)}."]
    if diagnosis["title"] and diagnosis["signature"] != "unknown":
        sentences.append(_sentence(diagnosis["title"]))
    sentences.append(_sentence(diagnosis["cause"]))
    if diagnosis["remedies"]:
        sentences.append("Remedy: " + _sentence(_remedy(diagnosis["remedies"][0])))
    if not diagnosis["complete"]:
        sentences.append("The log is incomplete, so this verdict is weak.")
    return " ".join(sentences)


def _remedy(remedy: dict[str, Any]) -> str:
    return f"{remedy['value']} ({remedy['note']})" if remedy.get("note") else str(remedy["value"])


def what(diagnosis: dict[str, Any]) -> str:
    """`Type: message` of the exception, or the line that states the cause, or how the process ended."""
    exception = diagnosis["exception"]
    if exception.get("type"):
        name, message = exception["type"].rsplit(".", 1)[-1], exception["message"]
        text = f"{name}: {message}" if message else name
    else:
        text = (
            exception.get("message")
            or diagnosis["cause_line"]
            or diagnosis["exit"].get("meaning")
            or "the log tells no reason"
        )
    text = text.rstrip(". ")
    return text if len(text) <= 300 else text[:300] + " ..."


def _where(diagnosis: dict[str, Any]) -> str:
    ranks = diagnosis["ranks"]
    if not ranks:
        return ""
    return f" (rank {ranks[0]})" if len(ranks) == 1 else f" (ranks {', '.join(ranks)}; {ranks[0]} first)"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else text + "."


def readable(unit: str, diagnosis: dict[str, Any], lines: int = 10) -> str:
    """The headline, every remedy in order, and about ten lines of evidence, one thing a line."""
    parts = [headline(unit, dict(diagnosis, remedies=[]))]
    for number, remedy in enumerate(diagnosis["remedies"], 1):
        parts.append(f"  remedy {number} ({remedy['kind']}): {_remedy(remedy)}")
    if diagnosis["exit"].get("meaning"):
        parts.append(f"  how it ended: {diagnosis['exit']['meaning']}")
    for warning in diagnosis["early_warnings"][:3]:
        parts.append(f"  seen earlier: {warning['line'][:160]} ({warning['meaning']})")
    # What merely followed stays in the evidence of the result; a person is shown the cause.
    shown = [line for line in diagnosis["evidence"] if not any(after[:80] in line for after in diagnosis["secondary"])]
    if len(shown) > lines:
        # The exception stands at the end of a traceback, so the lines before it go first.
        at = next(
            (i for i, line in enumerate(shown) if diagnosis["cause_line"] and diagnosis["cause_line"][:80] in line), 0
        )
        begin = max(0, min(at - lines // 2 - 1, len(shown) - lines))
        shown = shown[begin : begin + lines]
    return "\n".join([*parts, *("  | " + line for line in shown)])
