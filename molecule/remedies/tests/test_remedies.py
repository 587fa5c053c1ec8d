# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the running servers, systemd and the hosts' files say after every end that a remedy can take."""

from __future__ import annotations

import json
from typing import Any

testinfra_hosts = ["ansible://b300-01", "ansible://b300-02"]


def starts(host: Any, name: str) -> int:
    """How often systemd started the unit, by its own lines."""
    return int(host.check_output(f"journalctl --no-pager -o cat -u {name}.service | grep -c '^Started '"))


def note(host: Any, name: str) -> Any:
    return host.file(f"/etc/sglang/{name}.remedy.yaml")


def test_the_remedy_is_what_runs(host: Any) -> None:
    info = json.loads(host.check_output("curl -sS http://127.0.0.1:30001/server_info"))
    assert info["mm_attention_backend"] == "triton_attn"
    assert info["trust_remote_code"] is True
    assert host.check_output("systemctl is-active sglang.service") == "active"


def test_one_redeployment_cured_it(host: Any) -> None:
    assert starts(host, "sglang") == 2


def test_the_note_went_when_the_inventory_took_over(host: Any) -> None:
    assert not note(host, "sglang").exists


def test_without_permission_there_is_neither_note_nor_change(host: Any) -> None:
    assert not note(host, "unallowed").exists
    assert "mm-attention-backend" not in host.file("/etc/sglang/unallowed.yaml").content_string


def test_what_died_is_not_started_again_and_again(host: Any) -> None:
    for name in ("unallowed", "incurable", "refused", "textonly"):
        shown = host.check_output(f"systemctl show {name} -p SubState -p MainPID").splitlines()
        assert "MainPID=0" in shown
        assert "SubState=auto-restart" not in shown


def test_a_remedy_that_does_not_cure_costs_one_start(host: Any) -> None:
    """One that dies and one with the remedy; the second run has a third one, and no fourth."""
    assert starts(host, "incurable") == 3


def test_the_note_can_be_read_and_holds_no_secret(host: Any) -> None:
    text = note(host, "incurable").content_string
    assert "sglang_service_arguments: {mm-attention-backend: triton_attn}" in text
    assert "vision-attention-unavailable: The vision tower" in text
    assert "5f2e9c" not in text
    assert note(host, "incurable").mode == 0o644


def test_a_withdrawn_permission_takes_the_remedy_back(host: Any) -> None:
    assert not note(host, "textonly").exists
    assert "skip-server-warmup" not in host.file("/etc/sglang/textonly.yaml").content_string
    assert starts(host, "textonly") == 3


def test_a_refused_remedy_changes_nothing(host: Any) -> None:
    assert not note(host, "refused").exists
    assert "mm-attention-backend" not in host.file("/etc/sglang/refused.yaml").content_string
    assert starts(host, "refused") == 1
