# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's own signatures, checked before anything is waited for.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    REMEDY_KINDS,
    Remedy,
    Signature,
)

_PATTERNS = ("exception", "frames", "line", "nearby")
_REMEDY = {
    "kind": {"type": "str", "choices": list(REMEDY_KINDS), "default": "manual"},
    "value": {"type": "str", "required": True},
    "unattended": {"type": "bool", "default": False},
    "note": {"type": "str"},
}
_SIGNATURE = {
    "id": {"type": "str", "required": True},
    **{name: {"type": "str"} for name in ("title", "cause", *_PATTERNS)},
    "remedies": {"type": "list", "elements": "dict", "default": [], "options": _REMEDY},
}
# The option as the modules declare it; its documentation is the fragment inferops.sglang.signatures.
SIGNATURES_OPTION: dict[str, Any] = {"type": "list", "elements": "dict", "default": [], "options": _SIGNATURE}


def user_signatures(given: list[dict[str, Any]]) -> tuple[Signature, ...]:
    """Turn the option's dictionaries into signatures; ValueError with a sentence where one is wrong."""
    return tuple(_one(number, dict(item)) for number, item in enumerate(given, 1))


def anywhere(signatures: tuple[Signature, ...]) -> bool:
    """True where one of the user's patterns may match any line, also one that is otherwise passed over as routine."""
    return any(one.line or one.nearby for one in signatures)


def _one(number: int, item: dict[str, Any]) -> Signature:
    name = f"signatures[{number}]"
    if not item.get("id") or not (item.get("exception") or item.get("line")):
        raise ValueError(f"{name} needs an id and at least one of exception and line")
    for key in _PATTERNS:
        try:
            re.compile(item.get(key) or "")
        except re.error as error:
            raise ValueError(f"{name}.{key} is {item[key]!r}, which is no regular expression ({error})") from error
    remedies = []
    for remedy in item.get("remedies") or []:
        kind = remedy.get("kind", "manual")
        if kind not in REMEDY_KINDS:
            raise ValueError(f"{name} has a remedy of kind {kind!r}; kinds are {', '.join(REMEDY_KINDS)}")
        remedies.append(
            Remedy(
                kind, str(remedy.get("value", "")), bool(remedy.get("unattended", False)), str(remedy.get("note") or "")
            )
        )
    texts = {key: str(item.get(key) or "") for key in _PATTERNS}
    return Signature(
        id=str(item["id"]),
        title=str(item.get("title") or item["id"]),
        cause=str(item.get("cause") or item.get("title") or item["id"]),
        remedies=tuple(remedies),
        **texts,
    )
