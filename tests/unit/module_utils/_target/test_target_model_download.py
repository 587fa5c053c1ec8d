# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole download in one process: the local hub, a real aria2c, and faults in between.

See download_bench.py for what is real and what is played.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import Manifest
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.names import NameRefused
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.digests import digest_of
from ansible_collections.inferops.sglang.plugins.module_utils._target import model_download, model_upkeep
from unit.module_utils._target.download_bench import TOKEN, Bench, needs_aria2c, shard

pytestmark = needs_aria2c


def test_everything_arrives_and_a_second_run_asks_one_question(bench: Bench) -> None:
    first = bench.download()
    bench.assert_same()
    assert (first.resume["verified_files"], first.resume["downloaded_bytes"]) == (6, first.bytes)
    assert first.resume["changed"]
    assert bench.units.processes == {}
    assert not list(bench.target.glob(".partial-*"))
    bench.pair.control.clear_requests()
    assert bench.plan().converged
    assert bench.counts()["hub_requests"] == 1
    assert bench.plan(revision=first.commit).converged
    assert bench.counts()["hub_requests"] == 1
    assert bench.counts()["cdn_requests"] == 0


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 503, "count": 3},
        {"kind": "expired", "count": 3},
        {"kind": "html200", "count": 2},
        {"kind": "cut", "after_bytes": 100_000, "count": 5},
        {"kind": "short_body", "count": 4},
        {"kind": "no_range", "count": -1},
        {"kind": "rate_limited", "seconds": 1, "count": 2},
        {"kind": "corrupt", "count": 1},
    ],
    ids=lambda fault: str(fault["kind"]),
)
def test_a_fault_of_the_cdn_passes(bench: Bench, fault: dict[str, Any]) -> None:
    bench.faults(dict(fault, origin="cdn"))
    bench.download()
    bench.assert_same()


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "status", "status": 502, "count": 2},
        {"kind": "rate_limited", "seconds": 1, "count": 2},
        {"kind": "cut", "after_bytes": 1, "match": "*resolve*", "method": "GET", "count": 1},
        {"kind": "html200", "match": "*config.json", "count": 1},
        {"kind": "corrupt", "match": "*config.json", "count": 1},
    ],
    ids=lambda fault: str(fault["kind"]),
)
def test_a_fault_of_the_hub_passes(bench: Bench, fault: dict[str, Any]) -> None:
    bench.faults(dict(fault, origin="hub"))
    bench.download()
    bench.assert_same()


def test_content_that_stays_wrong_never_gets_its_name(bench: Bench) -> None:
    bench.faults({"kind": "corrupt", "origin": "cdn", "count": -1})
    with pytest.raises(TransferFailed, match="arrived twice with content that is not what the hub's listing says"):
        bench.download()
    assert bench.finished() == []
    assert bench.units.processes == {}
    bench.pair.control.clear_faults()
    bench.download()
    bench.assert_same()


def test_the_hubs_own_client_finds_its_records(bench: Bench) -> None:
    """It ignores a record that is older than its file, and one of another commit makes it ask for the ETag."""
    download = bench.download()
    records = bench.target / ".cache" / "huggingface" / "download"
    for file in download.files:
        commit, etag, since = (records / f"{file.path}.metadata").read_text().splitlines()
        assert (commit, etag) == (download.commit, file.digest.partition(":")[2])
        assert float(since) >= (bench.target / file.path).stat().st_mtime
    (bench.repository / "empty.txt").unlink()
    (bench.repository / "config.json").write_text('{"new": 1}')
    second = bench.download()
    there = sorted(str(path.relative_to(records)) for path in records.rglob("*") if path.is_file())
    assert there == sorted(f"{file.path}.metadata" for file in second.files)
    assert (records / "config.json.metadata").read_text().startswith(second.commit)


def test_a_directory_that_was_finished_without_those_records_gets_them(bench: Bench) -> None:
    bench.download()
    shutil.rmtree(bench.target / ".cache")
    download = bench.plan()
    upkeep = model_upkeep.look(download, "report", 2, bench.units)
    assert (download.converged, upkeep.needed, (bench.target / ".cache").exists()) == (True, True, False)
    model_upkeep.carry_out(download, upkeep)
    assert len(list((bench.target / ".cache").rglob("*.metadata"))) == len(download.files)
    assert not model_upkeep.look(bench.plan(), "report", 2, bench.units).needed


def test_the_token_reaches_the_hub_alone(bench: Bench, tmp_path: Path) -> None:
    bench.settings(gated=True)
    bench.download(token=TOKEN)
    bench.assert_same()
    assert bench.counts()["hub_authorizations"] > 0
    assert bench.counts()["cdn_authorizations"] == 0
    assert TOKEN not in json.dumps(bench.units.commands)
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file


def test_a_gated_repository_is_refused_before_anything_is_touched(bench: Bench) -> None:
    bench.settings(gated=True)
    with pytest.raises(HubError, match="org/model is gated and no token was given"):
        bench.plan().check_access()
    assert not bench.target.exists()


def test_hostile_names_are_refused_before_anything_is_touched(bench: Bench) -> None:
    bench.settings(extra_paths=["../escape"])
    with pytest.raises(NameRefused, match=r"'\.\./escape'"):
        bench.plan()
    assert not bench.target.exists()


def test_too_little_space_is_told_before_the_first_byte(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    download = bench.plan()
    monkeypatch.setattr(download.directory, "free_bytes", lambda: 1_000_000)
    with pytest.raises(TransferFailed, match=r"has 977 KiB free and the download still needs 4\.8 MiB"):
        download.check_space()
    assert not bench.target.exists()


def test_a_new_revision_replaces_what_differs_and_removes_what_is_gone(bench: Bench) -> None:
    bench.download()
    (bench.repository / "empty.txt").unlink()
    (bench.repository / "m-2.safetensors").write_bytes(shard("b", 2_000_000))
    (bench.target / "mine.txt").write_text("not from the hub")
    bench.pair.control.clear_requests()
    second = bench.download()
    assert second.resume["verified_files"] == 1
    digest = hashlib.sha256((bench.repository / "m-2.safetensors").read_bytes()).hexdigest()
    fetched = {entry["path"] for entry in bench.pair.control.requests()["log"] if entry["origin"] == "cdn"}
    assert fetched == {f"/org/model/{digest}"}
    assert (bench.target / "mine.txt").exists()
    (bench.target / "mine.txt").unlink()
    bench.assert_same()


def test_files_that_are_there_already_are_hashed_and_kept_where_they_are_right(bench: Bench) -> None:
    shutil.copytree(bench.repository, bench.target)
    wrong = bytearray((bench.target / "m-1.safetensors").read_bytes())
    wrong[-1] ^= 1
    (bench.target / "m-1.safetensors").write_bytes(wrong)
    kept = (bench.target / "m-2.safetensors").stat().st_ino
    bench.download()
    bench.assert_same()
    assert (bench.target / "m-2.safetensors").stat().st_ino == kept


def test_a_header_that_was_damaged_since_is_told_from_a_bad_repository(bench: Bench) -> None:
    """verify: structure reads it although its receipt is good; the way out is another one than for the repository."""
    bench.download()
    bench.plan(verify="structure").check_structure()
    damage(bench.target / "m-1.safetensors", 9)
    later = bench.plan(verify="structure")
    assert later.converged
    with pytest.raises(
        TransferFailed, match=r"m-1\.safetensors was right when it got its receipt .* with verify: full"
    ):
        later.check_structure()
    bench.download(verify="full")
    bench.assert_same()
    bench.plan(verify="structure").check_structure()


def test_an_index_that_was_damaged_since_is_told_from_a_bad_repository(bench: Bench) -> None:
    bench.download()
    damage(bench.target / "model.safetensors.index.json", 0)
    with pytest.raises(TransferFailed, match=r"index\.json .* does not fit .* Run again with verify: full"):
        bench.plan(verify="structure").check_structure()


def damage(file: Path, place: int) -> None:
    """As a disk does it: the metadata stay."""
    before = file.stat()
    with file.open("r+b") as stream:
        stream.seek(place)
        stream.write(b"\0\1\2\3")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_listing_from_a_file_takes_the_place_of_the_hubs(bench: Bench) -> None:
    """The hub is asked for the files alone, and only for those of the listing."""
    whole = bench.plan().manifest
    approved = Manifest(whole.repository, whole.commit, tuple(file for file in whole.files if file.path != "empty.txt"))
    bench.pair.control.clear_requests()
    bench.download(manifest=approved)
    (bench.repository / "empty.txt").unlink()
    bench.assert_same()
    assert not [entry for entry in bench.pair.control.requests()["log"] if entry["path"].startswith("/api/")]
    assert bench.plan(manifest=approved).converged


@pytest.mark.parametrize("place", ["in place", "on its way"])
def test_a_file_that_is_written_to_while_it_is_hashed_gets_no_receipt(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The digest was that of the bytes before; the next run would trust the bytes after."""
    if place == "in place":
        shutil.copytree(bench.repository, bench.target)
    disturbed = []

    def digest_then_write(stream: BinaryIO, kind: str, size: int) -> str:
        digest = digest_of(stream, kind, size)
        if str(stream.name).endswith("m-1.safetensors") and not disturbed:
            disturbed.append(stream.name)
            with open(stream.name, "r+b") as other:
                other.seek(-1, os.SEEK_END)
                other.write(b"?")
        return digest

    monkeypatch.setattr(model_download, "digest_of", digest_then_write)
    bench.download()
    assert disturbed
    bench.assert_same()


def test_a_changed_byte_with_old_metadata_is_found_by_full_verification(bench: Bench) -> None:
    bench.download()
    victim = bench.target / "m-1.safetensors"
    damage(victim, 1000)
    assert bench.plan().converged
    assert not bench.plan(verify="full").converged
    bench.download(verify="full")
    bench.assert_same()


def test_a_repository_whose_index_lies_is_not_published(bench: Bench) -> None:
    index = {"weight_map": {"a": "m-1.safetensors", "b": "m-3.safetensors"}}
    (bench.repository / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(TransferFailed, match=r"does not fit its shards: it names m-3\.safetensors, which is not there"):
        bench.download()
    assert bench.finished() == []


def test_a_repository_whose_weights_no_reader_loads_is_not_published(bench: Bench) -> None:
    (bench.repository / "m-2.safetensors").write_bytes(shard("b", 100) + b"more")
    with pytest.raises(TransferFailed, match=r"m-2\.safetensors is what org/model has .* behind its last tensor"):
        bench.download()
    assert bench.finished() == []


def test_another_model_in_the_same_directory_waits_for_the_running_one(bench: Bench) -> None:
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 100_000, "count": -1})
    first = bench.plan(slice_seconds=1.0)
    bench.target.mkdir()
    with first.locked():
        assert not first.advance()
        with first.locked() as mine:
            assert not mine
    (bench.repository / "config.json").write_text('{"new": 1}')
    with pytest.raises(TransferFailed, match="Another run is downloading org/model@"):
        bench.download()
    assert bench.units.processes


def test_slices_share_one_aria2_and_one_listing(bench: Bench) -> None:
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 400_000, "count": -1})
    bench.target.mkdir()
    resume: dict[str, Any] = {}
    for _slice in range(30):
        download = bench.plan(slice_seconds=0.5, resume=resume)
        with download.locked():
            if download.advance():
                break
        assert "verified" in download.progress
        resume = json.loads(json.dumps(download.resume))
    assert resume, "one slice was enough, so nothing was shown"
    bench.assert_same()
    started = [command for command in bench.units.commands if command[0] == "systemd-run"]
    assert len(started) == 1
    listings = [entry for entry in bench.pair.control.requests()["log"] if "/tree/" in entry["path"]]
    assert len(listings) == 1


def test_a_killed_aria2_costs_little_and_breaks_nothing(bench: Bench) -> None:
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 300_000, "count": 32})
    bench.target.mkdir()
    download = bench.plan(slice_seconds=1.0)
    with download.locked():
        assert not download.advance()
    for process in bench.units.processes.values():
        process.kill()
        process.wait()
    assert bench.finished() == []
    bench.download()
    bench.assert_same()


def test_a_disk_that_fills_up_ends_the_session_and_what_is_there_counts(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 400_000, "count": 32})
    bench.target.mkdir()
    download = bench.plan()

    def full(*_arguments: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(download.directory, "note_verified", full)
    monkeypatch.setattr(download.directory, "save_receipts", full)
    with download.locked(), pytest.raises(OSError, match="No space left"):
        download.advance()
    assert bench.units.processes == {}
    assert bench.finished() == []
    bench.download()
    bench.assert_same()
