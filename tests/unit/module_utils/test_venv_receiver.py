# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The target's half of a sync: step by step, and without a trace in check mode."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils import _venv_receiver
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import (
    anatomy,
    host,
    manifest,
    receipt,
    scan,
    transfer,
)
from ansible_collections.inferops.sglang.plugins.module_utils._venv_receiver import Receiver, RefusedError

NOW_NS = 2_000_000_000 * 10**9


class FailedError(Exception):
    pass


class Module:
    """As much of AnsibleModule as a step uses."""

    def __init__(self, check_mode: bool = False, **params: Any) -> None:
        defaults = {
            "exclude": [],
            "bytecode": True,
            "slice_seconds": 10,
            "manifest": None,
            "compression": "none",
            "imports": [],
            "imports_environment": {},
            "keep_previous": True,
        }
        self.params = {**defaults, **params}
        self.check_mode = check_mode

    def run_command(self, command: list[str], **_options: Any) -> tuple[int, str, str]:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def get_bin_path(self, _name: str, required: bool = False) -> None:
        assert not required

    def fail_json(self, msg: str, **_result: Any) -> None:
        raise FailedError(msg)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(host, "cache_directory", lambda _is_root: str(tmp_path / "cache"))
    monkeypatch.setattr(_venv_receiver, "SPARE_BYTES", 0)
    return tmp_path / "cache"


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    root = tmp_path / "reference"
    (root / "bin").mkdir(parents=True)
    (root / "bin/python").symlink_to(sys.executable)
    (root / "pyvenv.cfg").write_text(f"home = {os.path.dirname(sys.executable)}\nversion = 3.11.2\n")
    (root / "code.py").write_text("code = 1\n")
    return root


def listed(root: Path) -> list[manifest.Entry]:
    return scan.scan(scan.walk(str(root)), str(root), receipt.Receipt(lambda: NOW_NS), lambda: 0.0).entries


def step(name: str, check_mode: bool = False, **params: Any) -> dict[str, Any]:
    receiver = Receiver(Module(check_mode, **params), lambda: 0.0, lambda: NOW_NS)
    answer: dict[str, Any] = getattr(receiver, name)()
    return answer


def planned(reference: Path, tmp_path: Path, check_mode: bool = False) -> dict[str, Any]:
    (tmp_path / "exchange").mkdir(exist_ok=True)
    manifest.save(str(tmp_path / "exchange/manifest"), listed(reference))
    venv = anatomy.read(str(reference))
    version = "{}.{}.{}".format(*sys.version_info[:3])
    origin = {"venv": venv._asdict(), "version": version, "machine": os.uname().machine, "glibc": ""}
    return step(
        "plan",
        check_mode,
        path=str(tmp_path / "venv"),
        exchange=str(tmp_path / "exchange"),
        manifest=str(tmp_path / "exchange/manifest"),
        origin=origin,
    )


def synced(reference: Path, tmp_path: Path, **options: Any) -> None:
    plan = planned(reference, tmp_path)
    contents = transfer.load_contents(plan["contents"])
    files = {entry.content: str(reference / entry.path) for entry in listed(reference) if entry.kind == "f"}
    with open(tmp_path / "exchange/chunk", "wb") as out:
        transfer.send(transfer.Stream(contents), 0, plan["bytes"], files, out)
    common = {"path": str(tmp_path / "venv"), "manifest": str(tmp_path / "exchange/manifest")}
    chunk = {
        "contents": plan["contents"],
        "chunk": str(tmp_path / "exchange/chunk"),
        "offset": 0,
        "length": plan["bytes"],
    }
    assert step("receive", **common, **chunk) == {"wrong": []}
    step("stage", **common, **options)
    step("swap", **common)


def test_a_bare_target_gets_the_tree_and_nothing_else_stays(reference: Path, tmp_path: Path, cache: Path) -> None:
    synced(reference, tmp_path, imports=["json"])
    assert listed(tmp_path / "venv") == listed(reference)
    assert sorted(os.listdir(tmp_path)) == ["cache", "exchange", "reference", "venv"]
    assert sorted(os.listdir(tmp_path / "exchange")) == ["contents.json", "manifest"]
    assert len(os.listdir(cache)) == 1


def test_the_next_plan_reads_no_content(reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced(reference, tmp_path)
    identity = manifest.identity(listed(reference))
    monkeypatch.setattr(scan, "file_digest", lambda path: pytest.fail(f"read {path}"))
    answer = step("plan", path=str(tmp_path / "venv"))
    assert answer["identity"] == identity


def test_check_mode_leaves_no_trace(reference: Path, tmp_path: Path) -> None:
    plan = planned(reference, tmp_path, check_mode=True)
    assert (plan["added"], plan["modified"], plan["removed"], plan["hazards"]) == (5, 0, 0, [])
    assert sorted(os.listdir(tmp_path)) == ["exchange", "reference"]


def test_check_mode_writes_no_receipt_either(reference: Path, tmp_path: Path, cache: Path) -> None:
    synced(reference, tmp_path)
    shutil.rmtree(cache)
    step("plan", check_mode=True, path=str(tmp_path / "venv"))
    assert not cache.exists()
    step("plan", path=str(tmp_path / "venv"))
    assert cache.exists()


def test_check_mode_looks_at_the_previous_tree_where_a_swap_was_cut_short(reference: Path, tmp_path: Path) -> None:
    synced(reference, tmp_path)
    (tmp_path / "venv").rename(tmp_path / "venv.prev")
    answer = step("plan", check_mode=True, path=str(tmp_path / "venv"))
    assert (answer["recovered"], answer["identity"]) == (True, manifest.identity(listed(reference)))
    assert not (tmp_path / "venv").exists()
    assert step("plan", path=str(tmp_path / "venv"))["recovered"]
    assert (tmp_path / "venv").exists()


def test_a_failed_import_names_the_cause_and_spares_the_live_tree(reference: Path, tmp_path: Path) -> None:
    synced(reference, tmp_path)
    before = listed(tmp_path / "venv")
    (reference / "code.py").write_text("code = 2\n")
    with pytest.raises(FailedError, match="cannot import missing: ModuleNotFoundError: No module named 'missing'"):
        synced(reference, tmp_path, imports=["missing"])
    assert listed(tmp_path / "venv") == before
    assert (tmp_path / "venv.new/code.py").read_text() == "code = 2\n"


def test_a_directory_that_is_no_venv_is_not_replaced(reference: Path, tmp_path: Path) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv/precious").write_text("")
    with pytest.raises(RefusedError, match=r"no pyvenv\.cfg"):
        planned(reference, tmp_path)


def test_a_link_is_not_replaced(reference: Path, tmp_path: Path) -> None:
    (tmp_path / "venv").symlink_to(reference)
    with pytest.raises(RefusedError, match="a link or a mount point"):
        planned(reference, tmp_path)


def test_room_is_asked_for_before_anything_travels(
    reference: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_venv_receiver, "SPARE_BYTES", 2**70)
    with pytest.raises(RefusedError, match="GiB are free below"):
        planned(reference, tmp_path)
