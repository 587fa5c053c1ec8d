# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The read-only modules about models, run as a target runs them, against the local hub where they need one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest
from hub.__main__ import Pair
from unit.module_utils._target.made_models import COMMIT, shard_name, write_model

PROJECT = Path(__file__).resolve().parents[3]
TOKEN = "hf_unit"
MODULES = "ansible_collections.inferops.sglang.plugins.modules"


def call(name: str, allow_change: bool = False, **arguments: Any) -> dict[str, Any]:
    environment = dict(os.environ, PYTHONPATH=str(PROJECT / "collections"), PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(
        [sys.executable, "-m", f"{MODULES}.{name}"],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": arguments}), text=True, capture_output=True, check=False, env=environment,
    )  # fmt: skip
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result.get("failed") or allow_change or result["changed"] is False
    return result


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_model(tmp_path / "hub" / "org" / "made")
    return tmp_path / "hub"


@pytest.fixture
def pair(root: Path) -> Iterator[Pair]:
    pair = Pair(root, "127.0.0.1", 0, 0, [TOKEN])
    pair.start()
    yield pair
    pair.stop()


def settings(root: Path, **values: Any) -> None:
    (root / "org" / "made.hub.json").write_text(json.dumps(values))


def manifest(pair: Pair, **more: Any) -> dict[str, Any]:
    return call("model_manifest_info", **{"repository": "org/made", "endpoint": pair.url, **more})


def test_a_listing_over_pages_saved_and_fed_back_is_the_same(pair: Pair, root: Path, tmp_path: Path) -> None:
    settings(root, page_size=2)
    listed = manifest(pair)
    assert len(listed["commit"]) == 40
    assert [file["path"] for file in listed["files"]][:2] == ["config.json", shard_name(1, 2)]
    assert {len(file.get("sha256", "")) + len(file.get("git_blob_id", "")) for file in listed["files"]} == {40, 64}
    saved = tmp_path / "manifest.json"
    saved.write_text(json.dumps(listed))
    again = call("model_manifest_info", manifest_file=str(saved))
    assert (again["files"], again["commit"]) == (listed["files"], listed["commit"])
    made = root / "org" / "made"
    assert call("model_verify_info", path=str(made), manifest_file=str(saved), verify="full")["proven"]
    assert call("model_verify_info", path=str(made), repository="org/made", endpoint=pair.url, verify="full")["proven"]


def test_globs_choose_files(pair: Pair) -> None:
    chosen = manifest(pair, include=["*.safetensors"], exclude=["*-00002-*"])
    assert ([file["path"] for file in chosen["files"]], chosen["files_total"]) == ([shard_name(1, 2)], 5)


def test_a_directory_becomes_a_listing(root: Path, tmp_path: Path) -> None:
    made = root / "org" / "made"
    listed = call("model_manifest_info", directory=str(made))
    assert [len(file["sha256"]) for file in listed["files"]] == [64, 64, 64, 64, 64]
    saved = tmp_path / "manifest.json"
    saved.write_text(json.dumps(listed))
    assert call("model_verify_info", path=str(made), manifest_file=str(saved), verify="full")["proven"]
    (made / "config.json").write_text("{}")
    assert not call("model_verify_info", path=str(made), manifest_file=str(saved), verify="receipts")["ok"]


@pytest.mark.parametrize(
    ("given", "asked", "sentence"),
    [
        ({}, {"token": "hf_wrong"}, "does not know the given token"),
        ({"private": True}, {}, "or it is private and no token was given"),
        ({"gated": True}, {"check_access": True}, "org/made is gated and no token was given: accept the terms at"),
        (
            {"gated": True, "granted": ["hf_other"]},
            {"check_access": True, "token": TOKEN},
            "is gated and the account of the given token has no access",
        ),
        ({}, {"repository": "org/none", "token": TOKEN}, "or the account of the given token may not see it"),
        ({}, {"revision": "v9"}, "has no revision 'v9': name a branch, a tag or a full commit id"),
        ({}, {"revision": COMMIT}, f"has no commit {COMMIT}"),
        ({}, {"repository": "../x"}, "'../x' is not a repository id"),
        ({}, {"endpoint": "ftp://x"}, "endpoint is 'ftp://x'"),
        (
            {},
            {"endpoint": "https://me:secret@hub.example"},
            "a password before its host 'hub.example'. Addresses stand",
        ),
        ({}, {"token": "a b"}, "token holds white space"),
        ({}, {"ca_path": "/nowhere.pem"}, "Cannot read the certificates /nowhere.pem"),
        ({"extra_paths": ["../../etc/cron.d/x"]}, {}, "lists the path '../../etc/cron.d/x', which"),
        ({"extra_paths": ["CONFIG.json"]}, {}, "which are one file on some file systems"),
    ],
)
def test_each_refusal_is_a_sentence_with_the_way_out(
    pair: Pair, root: Path, given: dict[str, Any], asked: dict[str, Any], sentence: str
) -> None:
    settings(root, **given)
    result = manifest(pair, **asked)
    assert result.get("failed"), result
    assert sentence in result["msg"]


def test_a_gated_model_is_listed_and_its_files_are_open_to_who_may(pair: Pair, root: Path) -> None:
    settings(root, gated=True, granted=[TOKEN])
    assert len(manifest(pair)["files"]) == 5
    assert len(manifest(pair, check_access=True, token=TOKEN)["files"]) == 5


def test_a_proxy_that_was_named_is_used(pair: Pair) -> None:
    # Nobody can reach this name, so only the proxy can have answered, which here is the hub itself.
    assert len(manifest(pair, endpoint="http://hub.invalid", proxy=pair.url)["files"]) == 5


@pytest.mark.parametrize("text", ["{", '{"files": [{"path": "../x", "size": 1, "sha256": "%s"}]}' % (64 * "a")])
def test_a_bad_manifest_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    saved = tmp_path / "m.json"
    saved.write_text(text)
    result = call("model_manifest_info", manifest_file=str(saved))
    assert str(saved) in result["msg"]


@pytest.mark.parametrize(
    ("changed", "asked", "sentence"),
    [
        ({}, {"repository": "org/other"}, "is of org/made, and org/other is wanted"),
        ({"repository": ""}, {}, "is of no repository, and org/made is wanted"),
        ({"commit": ""}, {}, "is of org/made and names no commit"),
        ({}, {"revision": 40 * "9"}, f"and {40 * '9'} is wanted"),
        ({}, {"endpoint": "http://me:secret@hub.example"}, "a password before its host 'hub.example'"),
        ({}, {"mirrors": ["me:secret@hub.example"]}, "a mirror has a user name or a password before its host"),
    ],
)
def test_a_download_by_a_listing_that_does_not_fit_is_refused(
    pair: Pair, tmp_path: Path, changed: dict[str, Any], asked: dict[str, Any], sentence: str
) -> None:
    saved = tmp_path / "m.json"
    saved.write_text(json.dumps(dict(manifest(pair), **changed)))
    wish = {
        "repository": "org/made",
        "endpoint": pair.url,
        "path": str(tmp_path / "model"),
        "manifest_file": str(saved),
    }
    pair.control.clear_requests()
    result = call("model_download", **dict(wish, **asked))
    assert result["failed"]
    assert sentence in result["msg"]
    assert "secret" not in result["msg"]
    assert pair.control.requests()["log"] == []
    assert not (tmp_path / "model").exists()


def test_a_download_by_a_listing_is_planned_without_the_api(pair: Pair, tmp_path: Path) -> None:
    saved = tmp_path / "m.json"
    listed = manifest(pair)
    saved.write_text(json.dumps(listed))
    pair.control.clear_requests()
    wish = {
        "repository": "org/made",
        "endpoint": pair.url,
        "path": str(tmp_path / "model"),
        "manifest_file": str(saved),
    }
    planned = call("model_download", _ansible_check_mode=True, **wish, allow_change=True)
    assert (planned["commit"], planned["files"], planned["bytes"]) == (listed["commit"], 5, listed["bytes"])
    assert not [entry for entry in pair.control.requests()["log"] if entry["path"].startswith("/api/")]


def test_verify_says_what_it_lacks(root: Path, tmp_path: Path) -> None:
    made = str(root / "org" / "made")
    assert "keeps no record of what belongs there" in call("model_verify_info", path=made, verify="full")["msg"]
    assert "Cannot read the directory" in call("model_verify_info", path=str(tmp_path / "no"))["msg"]
    assert "threads is 65" in call("model_verify_info", path=made, threads=65)["msg"]
    cache = tmp_path / "models--org--made"
    (cache / "snapshots").mkdir(parents=True)
    (cache / "blobs").mkdir()
    assert "is a cache of hf download" in call("model_verify_info", path=str(cache))["msg"]


def test_a_slice_comes_back_unfinished_and_goes_on_without_the_hub(pair: Pair, root: Path) -> None:
    asked = {"path": str(root / "org" / "made"), "verify": "full", "slice_seconds": 1e-9}
    first = call("model_verify_info", repository="org/made", endpoint=pair.url, **asked)
    assert (first["finished"], first["progress"][:6]) == (False, "hashed")
    pair.control.clear_requests()
    asked["slice_seconds"] = 0
    last = call("model_verify_info", repository="org/made", endpoint=pair.url, resume=first["resume"], **asked)
    assert (last["finished"], last["proven"], last["source"]) == (True, True, "hub")
    assert pair.control.requests()["log"] == []


def test_safetensors_info_sums_up_a_directory_and_lists_tensors_on_demand(root: Path) -> None:
    made = root / "org" / "made"
    told = call("safetensors_info", path=str(made))
    assert told["ok"]
    assert told["summary"]["bytes_by_dtype"] == {"U8": 4 * 64 * 1024}
    assert (told["summary"]["tensors"], told["summary"]["parameters"], told["tensors"]) == (4, 4 * 64 * 1024, [])
    assert (told["metadata"], len(told["files"])) == ({"format": "pt"}, 2)
    listed = call("safetensors_info", path=str(made / shard_name(1, 2)), tensors="*.up.*")
    assert listed["tensors"] == [
        {"file": shard_name(1, 2), "name": "layers.1.up.weight", "dtype": "U8", "shape": [65536], "bytes": 65536}
    ]
    os.truncate(made / shard_name(2, 2), 100_000)
    told = call("safetensors_info", path=str(made))
    assert (told["ok"], told["defects"][0]["tensor"]) == (False, "layers.2.down.weight")


def test_safetensors_info_refuses_what_has_no_tensors(root: Path, tmp_path: Path) -> None:
    """Not with a result of zero tensors, which would look as if all were well."""
    config = root / "org" / "made" / "config.json"
    (tmp_path / "empty").mkdir()
    for path, told in (
        (config, f"{config} is no file *.safetensors: name one, or a directory that holds some"),
        (tmp_path / "empty", f"There is no file *.safetensors in {tmp_path}/empty"),
        (tmp_path / "none", f"Cannot read {tmp_path}/none: No such file or directory"),
    ):
        assert call("safetensors_info", path=str(path)).get("msg") == told
