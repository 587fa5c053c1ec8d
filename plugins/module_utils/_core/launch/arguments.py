# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of `sglang.launch_server`: from an inventory's dict to a config file and a command line.

PRIVATE to the collection: it can change in any release.

Three steps, of which only the middle one touches the target: `normalise` gives every argument one spelling,
`probe.SCRIPT` asks the INSTALLED version's own parser about each of them, and `plan` turns the parser's
verdicts into what is written, or into one sentence per mistake.
"""

from __future__ import annotations

import difflib
import json
from collections import namedtuple
from typing import Any, List, Mapping, Union

# What an argument is given: a switch's state, or the words that follow the option.
Value = Union[bool, List[str]]

# config: {option without dashes: bool, str or list of str}; command_line: words for ExecStart.
Plan = namedtuple("Plan", ["config", "command_line"])


class ArgumentsError(ValueError):
    """Every mistake found, one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


def normalise(arguments: Mapping[str, Any]) -> dict[str, Value]:
    """One spelling for every argument: hyphens, no leading dashes, words as strings; None means not given.

    A mapping becomes JSON text, which every SGLang version reads (a YAML mapping only newer ones do).
    """
    result: dict[str, Value] = {}
    problems = []
    for key, value in arguments.items():
        option = str(key).lstrip("-").replace("_", "-")
        if option in result:
            problems.append(f"The argument {option} is given twice, as {key} and in another spelling; keep one.")
        elif option == "config":
            problems.append(
                "The argument config is the file that is being written; put its content among the arguments."
            )
        elif value is not None:
            result[option] = _words(value)
    if problems:
        raise ArgumentsError(problems)
    return result


def _words(value: Any) -> Value:
    if isinstance(value, bool):
        return value
    if isinstance(value, (list, tuple)):
        return [_word(item) for item in value]
    return [_word(value)]


def _word(value: Any) -> str:
    if isinstance(value, (Mapping, list, tuple)):
        return json.dumps(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def plan(requested: Mapping[str, Value], answer: Mapping[str, Any]) -> Plan:
    """Decide where each argument goes, by the parser's answer (see probe.SCRIPT).

    SGLang's config file takes switches and valued options; what it refuses there with "Unsupported config
    option" (--x/--no-x pairs and custom actions) goes on the command line.
    """
    config: dict[str, Any] = {}
    command_line: list[str] = []
    problems = []
    for key, value in sorted(requested.items()):
        verdict = answer["arguments"][key]
        problem = _problem(key, value, verdict, answer)
        if problem:
            problems.append(problem)
            continue
        option = verdict["option"]
        if verdict["kind"] == "toggle":
            command_line.append(option if value else "--no-" + option[2:])
        elif verdict["kind"] == "other":
            command_line += [option] if value is True else [option, *value] if value else []
        elif value is True:
            config[option[2:]] = True
        elif value:
            config[option[2:]] = value[0] if verdict["single"] else value
    if problems:
        raise ArgumentsError(problems)
    return Plan(config, command_line)


def _problem(key: str, value: Value, verdict: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
    version = answer["version"]
    if verdict.get("ambiguous"):
        return (
            f"{key} is short for several options of SGLang {version}: {', '.join(verdict['ambiguous'])}; write one out."
        )
    if not verdict.get("option"):
        near = difflib.get_close_matches("--" + key, answer["options"], n=1)
        hint = f"did you mean {near[0]}?" if near else "see `python -m sglang.launch_server --help` on the host."
        return f"SGLang {version} has no option --{key}; {hint}"
    if verdict["kind"] in ("flag", "toggle") and not isinstance(value, bool):
        return f"{verdict['option']} of SGLang {version} is a switch: give true or false, not {' '.join(value)!r}."
    if verdict["kind"] == "value" and isinstance(value, bool):
        return f"{verdict['option']} of SGLang {version} takes a value, not {str(value).lower()}."
    if verdict.get("error"):
        return f"{verdict['option']} of SGLang {version} refuses {' '.join(value)!r}: {verdict['error']}."  # type: ignore[arg-type]
    return ""


def render(config: Mapping[str, Any], header: str) -> str:
    """The config file's text: flat YAML, one `option: JSON value` a line, sorted: order must never restart a server."""
    lines = [f"# {line}" for line in header.splitlines()]
    lines += [f"{option}: {json.dumps(value, ensure_ascii=False)}" for option, value in sorted(config.items())]
    return "\n".join(lines) + "\n"


def redacted(text: str, secrets: list[str]) -> str:
    """The config file's text as a diff may show it."""
    lines = []
    for line in text.splitlines(True):
        option = line.partition(":")[0]
        lines.append(f"{option}: (secret)\n" if option in secrets else line)
    return "".join(lines)
