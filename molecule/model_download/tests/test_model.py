# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bytes on the hosts are those that the hub lists, readable for others, and nothing else is left behind."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.request import urlopen

testinfra_hosts = ["ansible://b300-01", "ansible://b300-02"]

MODEL = "/srv/models/shards"
TOKEN = "hf_lab_5f2e9c_never_seen"
HUB = f"http://10.77.{os.environ['INFEROPS_LAB']}.1:8090"


def listing() -> list[dict[str, Any]]:
    with urlopen(f"{HUB}/api/models/lab/shards/tree/main?recursive=true") as answer:
        return [item for item in json.load(answer) if item["type"] == "file"]


def counts() -> dict[str, int]:
    with urlopen(f"{HUB}/_hub/requests") as answer:
        return dict(json.load(answer)["counts"])


def test_every_file_has_the_size_and_the_digest_of_the_listing(host: Any) -> None:
    wanted = [item for item in listing() if not item["path"].startswith("tokenizer")]
    assert len(wanted) >= 5
    for item in wanted:
        file = host.file(f"{MODEL}/{item['path']}")
        assert (file.size, file.is_symlink) == (item["size"], False)
        if "lfs" in item:
            assert file.sha256sum == item["lfs"]["oid"]


def test_another_user_can_read_all_of_it(host: Any) -> None:
    host.run_expect(
        [0],
        f"setpriv --reuid=nobody --regid=nogroup --clear-groups cat {MODEL}/*.json {MODEL}/*.safetensors >/dev/null",
    )
    assert host.file(f"{MODEL}/config.json").user == "www-data"


def test_nothing_is_left_of_the_transfer(host: Any) -> None:
    left = host.check_output(f"find {MODEL} -name '.partial-*' -o -name '*.aria2' -o -name '*.plain'")
    units = host.check_output("systemctl list-units --all --no-legend 'inferops-model-download*'")
    assert (left, units, host.check_output("ls /run/inferops-model-download")) == ("", "", "")


def test_the_hubs_own_client_takes_the_directory_for_its_own(host: Any) -> None:
    """With its records in place it asks what the commit holds, and about no file."""
    with urlopen(f"{HUB}/api/models/lab/shards/revision/main") as answer:
        commit = json.load(answer)["sha"]
    before = counts()
    hf = f"HF_ENDPOINT={HUB} HF_HUB_DISABLE_XET=1 HF_HUB_DISABLE_UPDATE_CHECK=1 /opt/hf/bin/hf"
    host.run_expect([0], f"{hf} download lab/shards --revision {commit} --exclude 'tokenizer*' --local-dir {MODEL}")
    asked = {name: count - before[name] for name, count in counts().items()}
    assert (asked["hub_requests"] <= 2, asked["cdn_requests"]) == (True, 0)
    verified = host.run_expect([0], f"{hf} cache verify lab/shards --local-dir {MODEL}")
    assert "mismatch" not in verified.stdout.lower()


def test_the_token_is_nowhere_on_the_host(host: Any) -> None:
    found = host.run(f"grep -rls {TOKEN} /etc /home /opt /root /run /srv /tmp /usr/local /var 2>/dev/null")
    assert found.stdout == ""
    assert TOKEN not in host.check_output("journalctl --no-pager -o json")


def test_the_cdn_never_saw_the_token_and_the_hub_did() -> None:
    seen = counts()
    assert seen["hub_authorizations"] > 0
    assert seen["cdn_requests"] > 0
    assert seen["cdn_authorizations"] == 0
