# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every host has the bytes that the hub lists, and what gives them away can read and not write."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.request import urlopen

testinfra_hosts = ["ansible://b300-01", "ansible://b300-02", "ansible://b300-03", "ansible://b300-04"]

MODEL = "/srv/models/shards"
HUB = f"http://10.77.{os.environ['INFEROPS_LAB']}.1:8090"


def listing() -> list[dict[str, Any]]:
    with urlopen(f"{HUB}/api/models/lab/shards/tree/main?recursive=true") as answer:
        return [item for item in json.load(answer) if item["type"] == "file"]


def test_every_file_has_the_digest_of_the_listing(host: Any) -> None:
    shards = [item for item in listing() if "lfs" in item]
    assert len(shards) == 4
    for item in shards:
        assert host.file(f"{MODEL}/{item['path']}").sha256sum == item["lfs"]["oid"]


def test_nothing_is_left_of_the_transfer(host: Any) -> None:
    assert host.check_output(f"find {MODEL} -name '.partial-*' -o -name '*.aria2' -o -name '*.plain'") == ""
    assert host.check_output("systemctl list-units --all --no-legend 'inferops-model-download*'") == ""


def test_the_seed_program_is_another_user_and_listens_at_the_hosts_address_alone(host: Any) -> None:
    units = host.check_output("systemctl list-units --no-legend --plain 'inferops-model-seed-*' | cut -d' ' -f1")
    for unit in units.split():  # it ends by itself, so there may be none any more
        pid = host.check_output(f"systemctl show --property MainPID --value {unit}")
        status = host.file(f"/proc/{pid}/status").content_string
        user = next(line.split()[1] for line in status.splitlines() if line.startswith("Uid:"))
        assert int(user) != 0
        (listening,) = host.check_output(f"ss -Hltnp | grep pid={pid},").splitlines()
        assert listening.split()[3].rpartition(":")[0] == host.check_output("hostname -I").strip()
