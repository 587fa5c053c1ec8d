# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter: quote a word for a systemd unit or environment file."""

from __future__ import annotations

DOCUMENTATION = r"""
name: systemd_quote
short_description: Quote a word for a systemd unit or environment file
version_added: "0.1.0"
author: The inferops.sglang maintainers (@inferops)
description:
  - Returns the value in double quotes, with every character escaped that systemd would otherwise interpret in that place.
  - A C(%) is a specifier in unit files even inside quotes, and C($) a variable on command lines; both are doubled where they must be.
options:
  _input:
    description: The word. A value with a line break or a NUL byte is refused.
    type: raw
    required: true
  place:
    description:
      - Where the word will stand.
      - V(exec) is a command line such as C(ExecStart=), V(environment) one assignment of C(Environment=),
        V(file) a value in an C(EnvironmentFile=).
    type: str
    choices: [exec, environment, file]
    default: exec
"""

EXAMPLES = r"""
- name: A JSON argument survives as one word
  ansible.builtin.debug:
    msg: "ExecStart=/bin/echo {{ '{\"a\": 1}' | inferops.sglang.systemd_quote }}"
"""

RETURN = r"""
_value:
  description: The quoted word.
  type: str
"""

from typing import Any, Callable

from ansible.errors import AnsibleFilterError
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.quoting import quote


def systemd_quote(value: Any, place: str = "exec") -> str:
    if place not in ("exec", "environment", "file"):
        raise AnsibleFilterError(f"systemd_quote knows the places exec, environment and file, not {place!r}.")
    try:
        return quote(str(value), place)
    except ValueError as error:
        raise AnsibleFilterError(str(error)) from error


class FilterModule:
    def filters(self) -> dict[str, Callable[..., str]]:
        return {"systemd_quote": systemd_quote}
