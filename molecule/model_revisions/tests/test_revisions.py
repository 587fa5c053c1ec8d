# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left on the hosts: one revision with the right bytes, the link to it, and nothing of what was removed."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.request import urlopen

testinfra_hosts = ["ansible://b300-01", "ansible://b300-02"]

MODEL = "/srv/models/shards"
HUB = f"http://10.77.{os.environ['INFEROPS_LAB']}.1:8090"


def ask(what: str) -> Any:
    with urlopen(f"{HUB}/api/models/lab/shards/{what}") as answer:
        return json.load(answer)


def test_the_link_leads_to_the_right_bytes_of_the_second_revision(host: Any) -> None:
    assert host.check_output(f"readlink {MODEL}/current") == ask("revision/v2")["sha"]
    items = [item for item in ask("tree/v2?recursive=true") if "lfs" in item]
    assert len(items) == 4
    for item in items:
        assert host.file(f"{MODEL}/current/{item['path']}").sha256sum == item["lfs"]["oid"]


def test_the_hubs_own_client_takes_the_revision_for_its_own(host: Any) -> None:
    """A revision holds the client's records, also those of files that it shares with another one."""
    commit = ask("revision/v2")["sha"]
    with urlopen(f"{HUB}/_hub/requests") as answer:
        before = json.load(answer)["counts"]["cdn_requests"]
    hf = f"HF_ENDPOINT={HUB} HF_HUB_DISABLE_XET=1 HF_HUB_DISABLE_UPDATE_CHECK=1 /opt/hf/bin/hf"
    host.run_expect([0], f"{hf} download lab/shards --revision {commit} --local-dir {MODEL}/current")
    with urlopen(f"{HUB}/_hub/requests") as answer:
        assert json.load(answer)["counts"]["cdn_requests"] == before
    host.run_expect([0], f"{hf} cache verify lab/shards --revision {commit} --local-dir {MODEL}/current")


def test_nothing_is_left_of_what_was_removed(host: Any) -> None:
    assert host.check_output("ls /srv/models") == "shards"
    assert host.check_output(f"ls {MODEL}").split() == sorted([ask("revision/v2")["sha"], "current"])
    assert host.check_output("systemctl list-units --all --no-legend 'inferops-model-*'") == ""
    assert host.check_output("ls /run/inferops-model-download") == ""
