# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After sessions, controllers and hosts have died, the bytes are those of the hub, and nothing is left behind."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.request import urlopen

testinfra_hosts = ["ansible://b300-01", "ansible://b300-02"]

MODEL = "/srv/models/shards"
HUB = f"http://10.77.{os.environ['INFEROPS_LAB']}.1:8090"


def test_every_file_has_the_size_and_the_digest_of_the_listing(host: Any) -> None:
    with urlopen(f"{HUB}/api/models/lab/shards/tree/main?recursive=true") as answer:
        items = [item for item in json.load(answer) if item["type"] == "file"]
    assert len(items) >= 5
    for item in items:
        file = host.file(f"{MODEL}/{item['path']}")
        assert file.size == item["size"]
        if "lfs" in item:
            assert file.sha256sum == item["lfs"]["oid"]


def test_nothing_is_left_of_the_transfers(host: Any) -> None:
    left = host.check_output(f"find {MODEL} -name '.partial-*' -o -name '*.aria2' -o -name '*.plain'")
    units = host.check_output("systemctl list-units --all --no-legend 'inferops-model-download*'")
    assert (left, units, host.check_output("ls /run/inferops-model-download")) == ("", "", "")


def test_the_cdn_never_saw_the_token() -> None:
    with urlopen(f"{HUB}/_hub/requests") as answer:
        counts = json.load(answer)["counts"]
    assert counts["hub_authorizations"] > 0
    assert (counts["cdn_requests"] > 0, counts["cdn_authorizations"]) == (True, 0)
