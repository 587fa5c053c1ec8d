# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words in unit files and environment files, so that systemd hands on exactly what was given.

PRIVATE to the collection: it can change in any release. Rules: systemd.syntax(7), systemd.service(5) "COMMAND
LINES", systemd.exec(5) EnvironmentFile=; checked against `systemd-analyze verify` of systemd 252 and 257.
"""

from __future__ import annotations


def quote(value: str, place: str) -> str:
    """Quote one word for `exec` (a command line), `environment` (Environment=) or `file` (EnvironmentFile=).

    `%` starts a specifier in unit files, also inside quotes, and a wrong one keeps the unit from loading; `$`
    starts a variable on command lines, also inside quotes. An environment file knows neither.
    """
    bad = [name for name, character in (("a line break", "\n"), ("a NUL byte", "\0")) if character in value]
    if bad:
        raise ValueError(f"The value {value!r} holds {bad[0]}, which no unit or environment file can carry; remove it.")
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    if place in ("exec", "environment"):
        text = text.replace("%", "%%")
    if place == "exec":
        text = text.replace("$", "$$")
    if place == "file":
        text = text.replace("$", "\\$").replace("`", "\\`")
    return f'"{text}"'
