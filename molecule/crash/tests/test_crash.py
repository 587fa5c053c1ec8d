# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd says of the crash: SGLang killed itself, and nothing keeps loading the model again and again."""

from __future__ import annotations

from typing import Any

testinfra_hosts = ["ansible://b300-01"]


def test_the_crash_is_what_the_facts_say(host: Any) -> None:
    journal = host.check_output("journalctl --no-pager -a -u sglang")
    assert "No module named 'vllm'" in journal
    assert "Received sigquit from a child process" in journal
    assert "code=killed, status=9/KILL" in journal


def test_the_restart_loop_was_ended(host: Any) -> None:
    shown = host.check_output("systemctl show sglang -p ActiveState -p SubState -p MainPID").splitlines()
    assert "MainPID=0" in shown
    assert "SubState=auto-restart" not in shown
