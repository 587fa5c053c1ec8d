# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which remedy may be applied: what the diagnosis offers, and what the operator allows.

PRIVATE to the collection: it can change in any release.

An operator allows a kind (`server_args`), which covers remedies that are safe to apply unattended; or a signature's
id, which covers every exact remedy of that failure; or one remedy, as `id=value`.
"""

from __future__ import annotations

import difflib
from typing import Any, Mapping, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.launch import change as changes

VARIABLE = "sglang_service_allowed_remedies"

# A chosen remedy: {signature, title, kind, value, unattended, arguments, environment}.
Remedy = Mapping[str, Any]


def mistakes(allowed: Sequence[str], kinds: Sequence[str], signatures: Sequence[str]) -> list[str]:
    """One sentence for each entry that can never allow anything."""
    sentences = []
    for entry in allowed:
        name, separator, _value = entry.partition("=")
        if name in signatures or (name in kinds and not separator):
            continue
        near = difflib.get_close_matches(name, [*kinds, *signatures], n=1)
        hint = f"did you mean {near[0]}?" if near else f"kinds are {', '.join(kinds)}."
        sentences.append(f"{VARIABLE} lists '{entry}', which is neither a kind of remedy nor a signature's id; {hint}")
    return sentences


def allows(allowed: Sequence[str], signature: str, kind: str, value: str, unattended: bool) -> bool:
    """Whether the operator allows this remedy of this signature."""
    return (unattended and kind in allowed) or signature in allowed or f"{signature}={value}" in allowed


def choose(
    diagnosis: Mapping[str, Any],
    allowed: Sequence[str],
    arguments: Mapping[str, Any],
    environment: Mapping[str, Any],
    reserved: Sequence[str],
) -> tuple[dict[str, Any] | None, list[str]]:
    """(the first remedy that may be applied, why the ones before it, or all of them, are left to people)."""
    signature = str(diagnosis.get("signature", ""))
    left = []
    for number, offered in enumerate(diagnosis.get("remedies") or [], 1):
        change = changes.parse(offered["kind"], offered["value"])
        why = _left(signature, offered, change, allowed, arguments, environment, reserved)
        if why or change is None:
            left.append(f"remedy {number} ({offered['value']}) was not applied: {why}")
            continue
        chosen = {key: offered[key] for key in ("kind", "value", "unattended")}
        chosen.update(signature=signature, title=str(diagnosis.get("title", "")))
        return dict(chosen, arguments=change.arguments, environment=change.environment), left
    return None, left or [f"nothing was applied: the failure {signature} has no remedy that a machine could apply"]


def _left(
    signature: str,
    offered: Mapping[str, Any],
    change: changes.Change | None,
    allowed: Sequence[str],
    arguments: Mapping[str, Any],
    environment: Mapping[str, Any],
    reserved: Sequence[str],
) -> str:
    """Why this one is not applied; empty where it may be."""
    kind, value, unattended = offered["kind"], offered["value"], bool(offered.get("unattended"))
    one = f"{signature}={value}"
    if kind not in changes.KINDS:
        listed = kind in allowed or signature in allowed or one in allowed
        return f"{'allowed, but ' if listed else ''}a change of kind {kind} is made by people, not by this role"
    if change is None:
        return "it is advice, not an exact change"
    if not allows(allowed, signature, kind, value, unattended):
        if unattended:
            return f"{VARIABLE} lists neither {kind} nor {signature}"
        return f"it has a cost, so the kind is not enough; {VARIABLE} would have to list {one}"
    taken = sorted(key for key in (*change.arguments, *change.environment) if key in reserved)
    if taken:
        return f"{', '.join(taken)} has a role variable of its own"
    if changes.holds(arguments, environment, change):
        return "it is in effect already"
    return ""
