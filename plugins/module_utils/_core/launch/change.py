# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A remedy as a change of the inventory: which arguments and environment it sets.

PRIVATE to the collection: it can change in any release.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import namedtuple
from typing import Any, Mapping

from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.arguments import normalise

# arguments: {option without dashes: True, a word, a list of words, or None to leave it out}; environment: {name: value}.
Change = namedtuple("Change", ["arguments", "environment"])

# The kinds of remedy that are a change of these two.
KINDS = ("server_args", "environment")

_OPTION = re.compile(r"--([a-z0-9]+(?:-[a-z0-9]+)*)")
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
# Marks of a sentence: advice such as "--host 0.0.0.0, or an address of this host" is for people. Stars are what a
# secret was replaced by.
_PROSE = re.compile(r"[,;:]$|\*\*\*|\{\w+\}|^(?:a|an|and|or|where|with|another|the)$")
_PLAIN_YAML = re.compile(r"[A-Za-z_][\w./-]*")
_YAML_WORDS = ("true", "false", "yes", "no", "on", "off", "y", "n", "null")


def parse(kind: str, value: str) -> Change | None:
    """The change that a remedy's value describes, or None where it is advice for people.

    `server_args` is a piece of command line: `--option`, `--option word ...`, `no --option` (leave it out), any
    number of them. `environment` is `NAME=value`, any number of them. Quotes as in a shell.
    """
    try:
        words = shlex.split(value)
    except ValueError:
        return None
    if not words or any(_PROSE.search(word) for word in words):
        return None
    if kind == "server_args":
        arguments = _arguments(words)
        return Change(arguments, {}) if arguments else None
    if kind == "environment":
        found = [_VARIABLE.fullmatch(word) for word in words]
        return Change({}, {each.group(1): each.group(2) for each in found if each}) if all(found) else None
    return None


def _arguments(words: list[str]) -> dict[str, Any]:
    """{} where the words are no piece of a command line."""
    found: dict[str, list[str] | None] = {}
    name, leave_out = "", False
    for word in words:
        option = _OPTION.fullmatch(word)
        values = found.get(name)
        if option:
            name = option.group(1)
            found[name] = None if leave_out else []
            leave_out = False
        elif word == "no":
            leave_out = True
        elif values is None:
            return {}
        else:
            values.append(word)
    return {} if leave_out else {key: _value(values) for key, values in found.items()}


def _value(words: list[str] | None) -> Any:
    """As an inventory says it: no word is a switch, None an argument that is left out."""
    if not words:
        return True if words is not None else None
    return words[0] if len(words) == 1 else words


def merged(arguments: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """The inventory's arguments with the change; its spelling of a changed argument goes."""
    changed = {_name(key) for key in change.arguments}
    kept = {key: value for key, value in arguments.items() if _name(key) not in changed}
    return {**kept, **change.arguments}


def holds(arguments: Mapping[str, Any], environment: Mapping[str, Any], change: Change) -> bool:
    """Whether the inventory says already what the change says."""
    given = normalise(arguments)
    wanted = normalise(change.arguments)
    return all(given.get(_name(key)) == wanted.get(_name(key)) for key in change.arguments) and all(
        str(environment.get(key, "")) == value for key, value in change.environment.items()
    )


def touched(arguments: Mapping[str, Any], environment: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """What the inventory says about the things that the change sets; None where it says nothing."""
    given = normalise(arguments)
    return {
        **{key: given.get(_name(key)) for key in sorted(change.arguments)},
        **{key: environment.get(key) for key in sorted(change.environment)},
    }


def as_yaml(change: Change) -> list[str]:
    """The change as lines for the inventory, one a variable, in flow style, so that no wrapping can break them."""
    lines = []
    for name, values in (
        ("sglang_service_arguments", change.arguments),
        ("sglang_service_environment", change.environment),
    ):
        if values:
            pairs = ", ".join(f"{key}: {_scalar(value)}" for key, value in values.items())
            lines.append(f"{name}: {{{pairs}}}")
    return lines


def _name(key: Any) -> str:
    return str(key).lstrip("-").replace("_", "-")


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN_YAML.fullmatch(value) and value.lower() not in _YAML_WORDS:
        return value
    return json.dumps(value, ensure_ascii=False)
