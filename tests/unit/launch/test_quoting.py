# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quoting for systemd, checked against systemd's own parser where it is installed."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.launch.quoting import quote

HARD = [
    "",
    "plain",
    "two words",
    '{"a": 1}',
    "it's",
    'say "hi"',
    "100%",
    "%Y-%m",
    "$HOME ${HOME} $$",
    "a;b",
    ";",
    "back\\slash",
    "a\\",
]


@pytest.mark.parametrize("value", ["a\nb", "a\0b"])
def test_what_no_unit_can_carry_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="no unit or environment file can carry"):
        quote(value, "exec")


def test_dollars_are_doubled_on_command_lines_only() -> None:
    assert quote("$A %h", "exec") == '"$$A %%h"'
    assert quote("$A %h", "environment") == '"$A %%h"'
    assert quote("$A %h", "file") == '"\\$A %h"'


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd's programs")
@pytest.mark.parametrize("value", HARD)
def test_systemd_reads_back_the_same_word(value: str, tmp_path: Path) -> None:
    unit = tmp_path / "probe.service"
    unit.write_text(f"[Service]\nExecStart=/bin/echo {quote(value, 'exec')} end\n")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)],
        env={"SYSTEMD_LOG_LEVEL": "debug", "PATH": "/usr/bin:/bin"},
        text=True, capture_output=True, check=False,
    )  # fmt: skip
    line = next(line for line in (done.stdout + done.stderr).splitlines() if "Command Line:" in line)
    assert unescape(line.split("Command Line:")[1].strip()) == ["/bin/echo", value.replace("$", "$$"), "end"]


def unescape(line: str) -> list[str]:
    """systemd prints the words it parsed, quoted for a shell where needed; `$$` is resolved only when it runs."""
    return shlex.split(line.replace("\\$", "$"))
