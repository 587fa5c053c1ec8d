# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Others come to the same judgement about the same directories: the hub's listing, its client, and the crate's rules."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.request import urlopen

import pytest

testinfra_hosts = ["ansible://b300-01", "ansible://b300-02"]

HUB = f"http://10.77.{os.environ['INFEROPS_LAB']}.1:8090"
HF = f"HF_ENDPOINT={HUB} HF_HUB_DISABLE_XET=1 HF_HUB_DISABLE_UPDATE_CHECK=1 /opt/hf/bin/hf"


def verified(host: Any, directory: str) -> Any:
    return host.run(f"{HF} cache verify lab/shards --local-dir {directory}")


def test_the_saved_listing_is_the_hubs_and_that_of_the_bytes_on_the_disk(host: Any) -> None:
    saved = json.loads(host.file("/srv/shards.manifest.json").content_string)
    with urlopen(f"{HUB}/api/models/lab/shards/tree/main?recursive=true") as answer:
        listed = {item["path"]: item for item in json.load(answer) if item["type"] == "file"}
    assert {file["path"] for file in saved["files"]} == set(listed)
    for file in saved["files"]:
        assert file["size"] == listed[file["path"]]["size"]
        if "sha256" in file:
            on_disk = host.file(f"/srv/models/shards/{file['path']}").sha256sum
            assert file["sha256"] == listed[file["path"]]["lfs"]["oid"] == on_disk
        else:
            assert file["git_blob_id"] == listed[file["path"]]["oid"]


def test_the_hubs_client_finds_the_whole_directory_right(host: Any) -> None:
    assert verified(host, "/srv/models/shards").rc == 0


@pytest.mark.parametrize("damage", ["flipped", "truncated", "hole"])
def test_the_hubs_client_finds_the_same_shard_wrong(host: Any, damage: str) -> None:
    found = verified(host, f"/srv/damaged/{damage}")
    assert found.rc != 0
    assert "model-00002-of-00004.safetensors" in found.stdout + found.stderr
