# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a client of the freshly deployed endpoint gets from the real SGLang."""

from __future__ import annotations

import json
import shlex
from typing import Any

testinfra_hosts = ["ansible://b300-01"]

URL = "http://127.0.0.1:30001"


def complete(host: Any, text: str) -> dict[str, Any]:
    body = {"model": "tiny-gpt2", "messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 16}
    request = f"curl -sS --fail -H 'Content-Type: application/json' -d {shlex.quote(json.dumps(body))} {URL}/v1/chat/completions"
    answer: dict[str, Any] = json.loads(host.check_output(request))
    return answer


def test_it_generates_and_the_same_prompt_gets_the_same_answer(host: Any) -> None:
    first, second = complete(host, "Say OK."), complete(host, "Say OK.")
    assert first["usage"]["completion_tokens"] == 16
    assert first["choices"][0]["message"]["content"].strip()
    assert first["choices"][0]["message"]["content"] == second["choices"][0]["message"]["content"]


def test_it_serves_the_configured_name_from_the_downloaded_model(host: Any) -> None:
    models = json.loads(host.check_output(f"curl -sS {URL}/v1/models"))["data"]
    assert [(model["id"], model["root"]) for model in models] == [("tiny-gpt2", "tiny-gpt2")]
    info = json.loads(host.check_output(f"curl -sS {URL}/server_info"))
    assert info["model_path"] == "/srv/models/tiny-gpt2"
    assert info["max_total_tokens"] == 4096


def test_the_unit_is_healthy_and_enabled(host: Any) -> None:
    text = host.check_output("systemctl show sglang -p ActiveState -p NRestarts -p UnitFileState -p User -p KillMode")
    assert set(text.splitlines()) == {
        "ActiveState=active", "NRestarts=0", "UnitFileState=enabled", "User=sglang", "KillMode=mixed",
    }  # fmt: skip


def test_the_reference_cannot_be_reached_from_the_target(host: Any) -> None:
    """The venv can only have come through the controller."""
    subnet = host.check_output("ip -4 -o addr show dev host0").split()[3].rpartition(".")[0]
    assert host.run(f"timeout 5 bash -c 'exec 3<>/dev/tcp/{subnet}.1/8090'").rc == 0
    assert host.run(f"timeout 5 bash -c 'exec 3<>/dev/tcp/{subnet}.11/22'").rc != 0


def test_nothing_is_left_of_the_work(host: Any) -> None:
    assert (
        host.check_output("find /opt/sglang /srv/models -name '*.new' -o -name '*.aria2' -o -name '.partial-*'") == ""
    )
    assert host.check_output("systemctl list-units --failed --no-legend --plain") == ""
