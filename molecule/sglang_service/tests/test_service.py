# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd and the running server report of the service, never what was rendered."""

from __future__ import annotations

import json
from typing import Any

import pytest

testinfra_hosts = ["ansible://b300-01", "ansible://b300-02"]

KEY = "lab-key-5f2e9c"
NAME = 'a model\'s "name" 100% $HOME'


def ask(host: Any, path: str, key: str = KEY) -> dict[str, Any]:
    answer = host.check_output(f"curl -sS -H 'Authorization: Bearer {key}' http://127.0.0.1:30001{path}")
    loaded: dict[str, Any] = json.loads(answer)
    return loaded


def show(host: Any, *names: str) -> dict[str, str]:
    text = host.check_output("systemctl show sglang.service " + " ".join(f"-p {name}" for name in names))
    return dict(line.split("=", 1) for line in text.splitlines())


def environment(host: Any) -> dict[str, str]:
    pid = show(host, "MainPID")["MainPID"]
    return dict(word.split("=", 1) for word in host.check_output(f"tr '\\0' '\\n' < /proc/{pid}/environ").splitlines())


def test_the_server_runs_with_the_configured_arguments(host: Any) -> None:
    info = ask(host, "/server_info")
    assert info["tp_size"] == 2
    assert info["served_model_name"] == NAME
    assert info["enable_tf32_matmul"] is False
    assert json.loads(info["json_model_override_args"]) == {"rope": {"factor": 2.0}}


def test_the_environment_arrives_letter_for_letter(host: Any) -> None:
    values = environment(host)
    assert values["GREETING"] == 'it\'s 100% "quoted" $HOME'
    assert values["HF_TOKEN"] == 'hf_lab$secret"5f2e9c'
    assert values["HOME"] == "/var/lib/sglang"


def test_systemd_took_every_setting(host: Any) -> None:
    assert show(host, "KillMode", "LimitNOFILE", "LogRateLimitIntervalUSec", "Restart", "StartLimitBurst", "User", "Type") == {
        "KillMode": "mixed", "LimitNOFILE": "1048576", "LogRateLimitIntervalUSec": "0", "Restart": "on-failure",
        "StartLimitBurst": "3", "User": "sglang", "Type": "exec",
    }  # fmt: skip
    assert show(host, "NeedDaemonReload", "NRestarts", "UnitFileState") == {
        "NeedDaemonReload": "no", "NRestarts": "0", "UnitFileState": "enabled",
    }  # fmt: skip


def test_it_runs_as_its_own_user_and_is_started_like_the_real_one(host: Any) -> None:
    pid = show(host, "MainPID")["MainPID"]
    assert host.check_output(f"stat -c %U /proc/{pid}") == "sglang"
    words = host.check_output(f"tr '\\0' ' ' < /proc/{pid}/cmdline")
    assert words.startswith("/opt/sglang/venv/bin/python -m sglang.launch_server --config /etc/sglang/sglang.yaml")


def test_no_secret_is_where_others_can_read_it(host: Any) -> None:
    """Both secrets of the inventory end alike, however a file may quote them."""
    secret = "5f2e9c"
    readable = "find /etc /opt /run /srv /tmp /var -type f -perm -o=r"
    assert host.run(f"{readable} -exec grep -lF {secret} {{}} + 2>/dev/null").stdout == ""
    assert secret not in host.check_output("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' || true")
    assert secret not in host.check_output("systemctl show sglang.service")


def test_the_key_that_sglang_prints_stays_out_of_the_journal(host: Any) -> None:
    if int(host.check_output("systemctl --version | head -n 1").split()[1]) < 253:
        pytest.skip("LogFilterPatterns= needs systemd 253; the role's README says so")
    journal = host.check_output("journalctl --no-pager -o cat -a _SYSTEMD_UNIT=sglang.service")
    assert "fired up" in journal
    assert "5f2e9c" not in journal


def test_a_client_without_the_key_is_refused(host: Any) -> None:
    status = host.check_output("curl -sS -o /dev/null -w '%{http_code}' http://127.0.0.1:30001/v1/models")
    assert status == "401"
