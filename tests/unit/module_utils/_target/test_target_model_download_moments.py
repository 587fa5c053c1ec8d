# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is true at each moment of a download, not only at its end."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.digests import digest_of
from ansible_collections.inferops.sglang.plugins.module_utils._target import model_download
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_download import ModelDownload
from ansible_collections.inferops.sglang.plugins.modules import model_verify_info
from unit.module_utils._target.download_bench import Bench, needs_aria2c, shard

pytestmark = needs_aria2c
SLOW, FAST = "m-1.safetensors", "m-2.safetensors"


class Killed(BaseException):
    """As a SIGKILL: nobody tidies up."""


def begun(bench: Bench) -> ModelDownload:
    """A download of which one file takes much longer than all others."""
    digest = hashlib.sha256((bench.repository / SLOW).read_bytes()).hexdigest()
    bench.faults({"kind": "slow", "origin": "cdn", "match": f"*{digest}", "bytes_per_second": 150_000, "count": -1})
    bench.target.mkdir()
    download = bench.plan(slice_seconds=2.0)
    with download.locked():
        assert not download.advance()
    return download


def test_files_are_verified_while_others_are_on_their_way(bench: Bench) -> None:
    download = begun(bench)
    assert "5/6 files verified" in download.progress
    assert download.resume["verified_files"] == 5
    assert bench.units.processes, "the last file is still on its way"
    assert bench.finished() == [], "names come when all of them are right"


def test_files_are_hashed_side_by_side(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=60)

    def together(stream: BinaryIO, kind: str, size: int) -> str:
        if str(stream.name).endswith(".safetensors"):
            both.wait()
        return digest_of(stream, kind, size)

    monkeypatch.setattr(model_download, "digest_of", together)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    bench.download()
    bench.assert_same()


def test_a_verification_beside_it_says_that_it_has_not_finished(bench: Bench) -> None:
    begun(bench)
    asked = {"path": str(bench.target), "repository": "org/model", "endpoint": bench.pair.url, "verify": "structure"}
    done = subprocess.run(
        [sys.executable, "-m", model_verify_info.__name__], input=json.dumps({"ANSIBLE_MODULE_ARGS": asked}),
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)), text=True, capture_output=True, check=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert not told["ok"]
    assert {defect["kind"] for defect in told["defects"]} == {"missing"}
    assert any("a download has not finished" in remark for remark in told["remarks"])
    bench.pair.control.clear_faults()
    bench.download()
    bench.assert_same()


def names_given(bench: Bench, monkeypatch: pytest.MonkeyPatch, dies_after: int = 1000) -> list[str]:
    """The files of the model that get their names, in that order; the one after so many renames of any kind is the last."""
    given: list[str] = []
    replace, renames = os.replace, [0]

    def note(source: Any, target: Any) -> None:
        place = Path(target)
        publishing = given or (str(target).startswith(str(bench.target)) and "/." not in str(target))
        if publishing:
            if renames[0] == dies_after:
                raise Killed
            renames[0] += 1
        replace(source, target)
        if publishing and "/." not in str(target):
            given.append(str(place.relative_to(bench.target)))

    monkeypatch.setattr(os, "replace", note)
    return given


def test_the_file_that_makes_a_directory_a_model_comes_last(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    given = names_given(bench, monkeypatch)
    bench.download()
    assert len(given) == 6
    assert given[-1] == "config.json"


@pytest.mark.parametrize("renames", range(6))
def test_killed_while_a_second_commit_gets_its_names(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    """Each file is whole and of one of the two commits, and the next run finishes without fetching anything again."""
    bench.download()
    old = {name: (bench.target / name).read_bytes() for name in bench.finished()}
    (bench.repository / FAST).write_bytes(shard("b", 2_000_000))
    (bench.repository / "config.json").write_text('{"second": 2}')
    (bench.repository / "empty.txt").unlink()
    with monkeypatch.context() as patch:
        given = names_given(bench, patch, renames)
        with pytest.raises(Killed):
            bench.download()
    for name in bench.finished():
        new = bench.repository / name
        assert (bench.target / name).read_bytes() in (old[name], new.read_bytes() if new.exists() else None), name
    assert given == [FAST, "config.json"][:renames]
    bench.pair.control.clear_requests()
    bench.download()
    bench.assert_same()
    assert bench.counts()["cdn_requests"] == 0
