# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stop a service that is in the middle of an answer."""

from __future__ import annotations

import json
import shlex
from typing import Any

testinfra_hosts = ["ansible://b300-01"]

TOKENS = 800

# Runs on the host: ask for a long answer as a stream; when its first piece is here, the request is in flight, so order
# the stop; then read on to the end. Prints how the answer ended.
ASK_AND_STOP = f"""
import http.client, json, subprocess
connection = http.client.HTTPConnection("127.0.0.1", 30001, timeout=120)
body = {{"model": "tiny-gpt2", "prompt": "Once", "max_tokens": {TOKENS}, "temperature": 0, "ignore_eos": True,
        "stream": True, "stream_options": {{"include_usage": True}}}}
connection.request("POST", "/v1/completions", json.dumps(body), {{"Content-Type": "application/json"}})
answer = connection.getresponse()
first = answer.readline()
stop = subprocess.Popen(["systemctl", "stop", "sglang"])
events = [line[6:] for line in answer.read().decode().splitlines() if line.startswith("data: ")]
usage = [json.loads(event)["usage"] for event in events if event != "[DONE]" and json.loads(event).get("usage")]
print(json.dumps({{"status": answer.status, "first": first.decode(), "last": events[-1], "usage": usage[-1],
                  "stop": stop.wait()}}))
"""


def test_a_stop_finishes_the_request_in_flight_and_ends_well(host: Any) -> None:
    result = json.loads(host.check_output(f"python3 -c {shlex.quote(ASK_AND_STOP)}"))
    assert result["status"] == 200
    assert result["first"].startswith("data: ")
    assert result["last"] == "[DONE]"
    assert result["usage"]["completion_tokens"] == TOKENS
    assert result["stop"] == 0
    shown = host.check_output("systemctl show sglang -p ActiveState -p Result -p ExecMainStatus").splitlines()
    assert sorted(shown) == ["ActiveState=inactive", "ExecMainStatus=0", "Result=success"]


def test_the_journal_speaks_of_no_crash(host: Any) -> None:
    failure = host.check_output("journalctl --no-pager -a -u sglang -o cat -g 'crashed with exit code|SIGKILL' || true")
    assert failure == ""
