# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The note that an applied remedy leaves on its host: for people to read, and for the next run to remember.

PRIVATE to the collection: it can change in any release.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Mapping, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.launch import change as changes
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch import choice

_FIELDS = ("signature", "title", "kind", "value", "unattended", "arguments", "environment", "applied_at", "before")


def digest(arguments: Mapping[str, Any], environment: Mapping[str, Any], change: changes.Change) -> str:
    """A fingerprint of what the inventory said about the changed things. The note never holds inventory values."""
    said = changes.touched(arguments, environment, change)
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()


def render(unit: str, remedy: Mapping[str, Any]) -> str:
    """The note's text: sentences as comments, then one line of JSON, which is YAML too."""
    change = changes.Change(remedy["arguments"], remedy["environment"])
    sentences = [
        f"A remedy that Ansible (inferops.sglang) applied on {remedy['applied_at']}, because {unit} had died while it started:",
        f"{remedy['signature']}: {' '.join(remedy['title'].split())}",
        "It stays in effect, on this host alone, until the inventory says the same; then this file goes by itself:",
        "",
        *("  " + line for line in changes.as_yaml(change)),
        "",
        "To go back to what the inventory says, delete this file and deploy. The next line is for the next run.",
    ]
    lines = [("# " + sentence).rstrip() for sentence in sentences]
    return "\n".join([*lines, json.dumps({key: remedy[key] for key in _FIELDS}, sort_keys=True)]) + "\n"


def parse(text: str) -> dict[str, Any]:
    """What the note remembers; ValueError with a sentence where it is damaged."""
    body = "".join(line for line in text.splitlines() if not line.startswith("#"))
    try:
        remedy = json.loads(body)
        return {key: remedy[key] for key in _FIELDS}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"it holds no remedy as this role writes it ({type(error).__name__})") from error


def over(
    remedy: Mapping[str, Any], allowed: Sequence[str], arguments: Mapping[str, Any], environment: Mapping[str, Any]
) -> str:
    """Why the remembered remedy has had its time; empty while it stands."""
    change = changes.Change(remedy["arguments"], remedy["environment"])
    if changes.holds(arguments, environment, change):
        return "the inventory holds it now"
    if not choice.allows(allowed, remedy["signature"], remedy["kind"], remedy["value"], remedy["unattended"]):
        return f"{choice.VARIABLE} allows it no longer"
    if digest(arguments, environment, change) != remedy["before"]:
        return "the inventory now says something else about " + ", ".join([*change.arguments, *change.environment])
    return ""
