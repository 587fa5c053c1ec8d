# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Revisions side by side and the removal of models, with the local hub and a real aria2c; users are real processes."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed
from ansible_collections.inferops.sglang.plugins.module_utils._target import model_upkeep, seed_unit
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_download import ModelDownload
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_removal import ModelRemoval
from unit.module_utils._target.download_bench import Bench, needs_aria2c, shard

pytestmark = needs_aria2c


@pytest.fixture(autouse=True)
def own_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seed_unit, "RUNTIME_ROOT", str(tmp_path / "run-seed"))


@pytest.fixture
def user() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a process that says when it has begun, and does nothing until the end of the test."""
    started: list[subprocess.Popen[str]] = []

    def start(code: str = "", *arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        program = f"{code}\nprint('begun', flush=True); input()"
        command = [sys.executable, "-c", program, *arguments]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=cwd)
        started.append(process)
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()


def bring(bench: Bench, keep: int = 2, **changes: Any) -> tuple[ModelDownload, model_upkeep.Upkeep]:
    """What the module does with the layout of revisions."""
    download = bench.plan(side_by_side=True, **changes)
    if not download.converged:
        with download.locked():
            assert download.advance()
    upkeep = model_upkeep.look(download, "report", keep, bench.units)
    model_upkeep.carry_out(download, upkeep)
    return download, upkeep


def change(bench: Bench, text: str) -> None:
    (bench.repository / "config.json").write_text(text)


def revisions(bench: Bench) -> set[str]:
    return {name for name in os.listdir(bench.target) if len(name) == 40}


def test_the_link_leads_to_what_is_complete_and_a_second_run_changes_nothing(bench: Bench) -> None:
    first, upkeep = bring(bench)
    assert upkeep.turns_link
    assert os.readlink(bench.target / "current") == first.commit
    for file in first.files:
        assert (bench.target / "current" / file.path).read_bytes() == (bench.repository / file.path).read_bytes()
    again = bench.plan(side_by_side=True)
    assert again.converged
    assert not model_upkeep.look(again, "report", 2, bench.units).needed


def test_what_two_revisions_share_is_neither_fetched_nor_stored_twice(bench: Bench) -> None:
    first, _upkeep = bring(bench)
    change(bench, '{"second": 2}')
    (bench.repository / "m-2.safetensors").write_bytes(shard("b", 2_000_000))
    bench.pair.control.clear_requests()
    second, _upkeep = bring(bench)
    new = [bench.repository / name for name in ("config.json", "m-2.safetensors")]
    assert second.resume["downloaded_bytes"] == sum(file.stat().st_size for file in new)
    assert len([entry for entry in bench.pair.control.requests()["log"] if entry["method"] == "HEAD"]) == 1
    for file in second.files:
        there = bench.target / second.commit / file.path
        assert there.read_bytes() == (bench.repository / file.path).read_bytes()
        shared = file.path not in ("config.json", "m-2.safetensors")
        assert os.path.samefile(there, bench.target / first.commit / file.path) == shared, file.path
    assert os.readlink(bench.target / "current") == second.commit
    assert (bench.target / first.commit / "config.json").read_text() == "{}"


def test_a_damaged_file_of_another_revision_is_not_adopted(bench: Bench) -> None:
    first, _upkeep = bring(bench)
    victim = bench.target / first.commit / "m-1.safetensors"
    victim.write_bytes(bytes(victim.stat().st_size))
    change(bench, '{"second": 2}')
    second, _upkeep = bring(bench)
    assert (bench.target / second.commit / "m-1.safetensors").read_bytes() == (
        bench.repository / "m-1.safetensors"
    ).read_bytes()


def test_a_file_system_without_second_names_fetches_everything(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bring(bench)
    change(bench, '{"second": 2}')
    monkeypatch.setattr(os, "link", lambda *_names: (_ for _ in ()).throw(OSError("no links here")))
    second, _upkeep = bring(bench)
    assert second.resume["downloaded_bytes"] == second.bytes
    assert (bench.target / "current" / "m-1.safetensors").read_bytes() == (
        bench.repository / "m-1.safetensors"
    ).read_bytes()


def test_older_revisions_go_and_what_check_mode_says_is_what_happens(bench: Bench) -> None:
    commits = []
    for number in range(3):
        change(bench, f'{{"number": {number}}}')
        download, _upkeep = bring(bench)
        commits.append(download.commit)
    assert revisions(bench) == set(commits[1:])
    change(bench, '{"number": 3}')
    fourth = bench.plan(side_by_side=True)
    announced = model_upkeep.look(fourth, "report", 2, bench.units)
    with fourth.locked():
        assert fourth.advance()
    done = model_upkeep.look(fourth, "report", 2, bench.units)
    model_upkeep.carry_out(fourth, done)
    assert announced.pruning == done.pruning
    assert announced.pruning.goes == (commits[1],)
    assert revisions(bench) == {commits[2], fourth.commit}


def test_a_revision_that_was_never_finished_does_not_count(bench: Bench) -> None:
    first, _upkeep = bring(bench)
    change(bench, '{"second": 2}')
    (bench.repository / "m-2.safetensors").write_bytes(shard("b", 2_000_000))
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 100_000, "count": 16})
    half = bench.plan(side_by_side=True, slice_seconds=0.5)
    with half.locked():
        assert not half.advance()
    half.unit.stop()
    change(bench, '{"third": 3}')
    third, upkeep = bring(bench)
    assert upkeep.pruning.goes == (half.commit,)
    assert revisions(bench) == {first.commit, third.commit}


def test_nobody_but_root_can_tell_who_uses_a_model(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others see no open files, so they would find nobody and remove what is in use."""
    bring(bench)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(TransferFailed, match="Only root can tell whether somebody uses a model: use become"):
        ModelRemoval(str(bench.target), bench.units).check_users()


def test_what_somebody_left_in_a_revision_stays_and_is_not_counted_again(bench: Bench) -> None:
    first, _upkeep = bring(bench)
    (bench.target / first.commit / "notes.txt").write_text("mine")
    change(bench, '{"second": 2}')
    second, _upkeep = bring(bench, keep=1)
    assert [path.name for path in (bench.target / first.commit).rglob("*")] == ["notes.txt"]
    again, upkeep = bring(bench, keep=1)
    assert (again.commit, upkeep.needed) == (second.commit, False)


USES = {
    "working directory": lambda start, place: start(cwd=place),
    "open file": lambda start, place: start(f"f = open({str(place / 'm-1.safetensors')!r}, 'rb')"),
    "mapped file": lambda start, place: start(
        f"import mmap\nwith open({str(place / 'config.json')!r}, 'rb') as f: m = mmap.mmap(f.fileno(), 0, prot=1)"
    ),
    "argument": lambda start, place: start("", "--model-path", str(place)),
    "argument with =": lambda start, place: start("", f"--model-path={place}"),
    "relative argument": lambda start, place: start("", "--model-path", place.name, cwd=place.parent),
    "configuration file": lambda start, place: start("", "--config", _configuration(place)),
}


def _configuration(place: Path) -> str:
    file = place.parents[1] / "server.yaml"
    file.write_text(f"model-path: {place}\n")
    return str(file)


@pytest.mark.parametrize("use", USES)
def test_a_revision_in_use_stays_and_the_warning_names_who(
    bench: Bench, user: Callable[..., subprocess.Popen[str]], use: str
) -> None:
    first, _upkeep = bring(bench)
    # Shared by both revisions otherwise, and then an open file does not tell which of them is meant by its inode.
    process = USES[use](user, bench.target / first.commit)
    change(bench, '{"second": 2}')
    second, upkeep = bring(bench, keep=1)
    assert revisions(bench) == {first.commit, second.commit}
    assert [f"process {process.pid} (" in sentence for sentence in upkeep.pruning.stays] == [True]
    process.kill()
    process.wait()
    _again, upkeep = bring(bench, keep=1)
    assert upkeep.pruning.goes == (first.commit,)
    assert revisions(bench) == {second.commit}


def test_a_file_that_is_open_in_a_container_under_another_name_protects_its_revision(bench: Bench) -> None:
    first, _upkeep = bring(bench)
    place = bench.target / first.commit
    script = (
        'mount --bind "$1" /mnt && exec "$2" -c "f = open(\'/mnt/config.json\'); print(\'begun\', flush=True); input()"'
    )
    command = ["unshare", "--mount", "sh", "-c", script, "sh", str(place), sys.executable]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin
    assert process.stdout
    with process.stdin, process.stdout:
        if process.stdout.readline() != "begun\n":
            pytest.skip("no mounts here")
        change(bench, '{"second": 2}')
        _second, upkeep = bring(bench, keep=1)
        process.kill()
        process.wait()
    assert [f"process {process.pid} (" in sentence for sentence in upkeep.pruning.stays] == [True]


def test_who_was_started_with_the_link_protects_what_it_led_to(
    bench: Bench, user: Callable[..., subprocess.Popen[str]]
) -> None:
    first, _upkeep = bring(bench)
    user("", "--model-path", str(bench.target / "current"))
    change(bench, '{"second": 2}')
    second, upkeep = bring(bench, keep=1)
    assert len(upkeep.pruning.stays) == 1
    # The link has been turned, so only the time of the start tells.
    os.utime(bench.target / "current", (2**31, 2**31), follow_symlinks=False)
    _again, upkeep = bring(bench, keep=1)
    assert (len(upkeep.pruning.stays), revisions(bench)) == (1, {first.commit, second.commit})


def test_who_uses_the_new_revision_does_not_protect_the_old_one(
    bench: Bench, user: Callable[..., subprocess.Popen[str]]
) -> None:
    """Also where they share the files that are open."""
    first, _upkeep = bring(bench)
    change(bench, '{"second": 2}')
    second, _upkeep = bring(bench)
    user(f"f = open({str(bench.target / second.commit / 'm-1.safetensors')!r}, 'rb')")
    _again, upkeep = bring(bench, keep=1)
    assert (upkeep.pruning.goes, revisions(bench)) == ((first.commit,), {second.commit})


@pytest.mark.parametrize(
    ("state", "stays"),
    [
        ("ActiveState=active\nUnitFileState=disabled", True),
        ("ActiveState=failed\nUnitFileState=", True),
        ("ActiveState=inactive\nUnitFileState=enabled", True),
        ("ActiveState=inactive\nUnitFileState=disabled", False),
    ],
)
def test_a_service_that_is_at_work_or_enabled_protects_what_its_configuration_names(
    bench: Bench, state: str, stays: bool
) -> None:
    first, _upkeep = bring(bench)
    file = _configuration(bench.target / first.commit)
    unit = (
        f"Id=sglang.service\n{state}\nExecStart={{ path=/usr/bin/x ; argv[]=/usr/bin/x --config {file} ; ignore=no }}\n"
    )
    change(bench, '{"second": 2}')
    download, _upkeep = bring(bench)
    upkeep = model_upkeep.look(download, "report", 1, lambda _command: (0, unit, ""))
    assert (upkeep.pruning.goes == ()) == stays
    assert [sentence.endswith(": sglang.service uses it") for sentence in upkeep.pruning.stays] == [True] * stays


def test_a_layout_is_not_taken_for_the_other(bench: Bench) -> None:
    bring(bench)
    with pytest.raises(TransferFailed, match="holds revisions side by side: name another path, or layout: revisions"):
        bench.plan()
    single = bench.target.parent / "single"
    download = bench.plan(path=str(single))
    with download.locked():
        assert download.advance()
    with pytest.raises(TransferFailed, match="holds one model directly, not revisions side by side"):
        bench.plan(path=str(single), side_by_side=True)


def test_the_link_is_never_without_a_revision(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step that turns it is one rename; whatever keeps that from happening leaves the old revision in place."""
    first, _upkeep = bring(bench)
    change(bench, '{"second": 2}')
    replace = os.replace

    def refuse(source: str, target: str) -> None:
        if str(target).endswith("/current"):
            raise OSError(errno.EIO, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="Input/output error"):
        bring(bench)
    assert os.readlink(bench.target / "current") == first.commit
    assert (bench.target / "current" / "config.json").read_text() == "{}"
    monkeypatch.undo()
    second, _upkeep = bring(bench)
    assert os.readlink(bench.target / "current") == second.commit


def test_something_else_named_current_is_not_replaced(bench: Bench) -> None:
    (bench.target / "current").mkdir(parents=True)
    (bench.target / "current" / "mine.txt").write_text("mine")
    with pytest.raises(TransferFailed, match="current is not a link: move it away"):
        bring(bench)
    assert (bench.target / "current" / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("side_by_side", [False, True])
def test_absent_removes_what_was_downloaded_and_nothing_else(bench: Bench, side_by_side: bool) -> None:
    if side_by_side:
        bring(bench)
        change(bench, '{"second": 2}')
        bring(bench)
    else:
        bench.download()
    (bench.target / "mine.txt").write_text("mine")
    removal = ModelRemoval(str(bench.target), bench.units)
    assert removal.needed
    removal.check_users()
    assert removal.remove() == [str(bench.target / "mine.txt")]
    assert [path.name for path in bench.target.rglob("*")] == ["mine.txt"]
    (bench.target / "mine.txt").unlink()
    ModelRemoval(str(bench.target), bench.units).remove()
    assert not bench.target.exists()
    assert not ModelRemoval(str(bench.target), bench.units).needed


def test_absent_ends_a_download_that_nobody_drives_and_refuses_one_that_somebody_does(bench: Bench) -> None:
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 100_000, "count": -1})
    download = bench.plan(slice_seconds=1.0)
    bench.target.mkdir()
    with download.locked():
        assert not download.advance()
    with pytest.raises(TransferFailed, match="Another run is downloading org/model@"):
        ModelRemoval(str(bench.target), bench.units).check_users()
    note = next((bench.target.parent / "run").glob("*/session.json"))
    note.write_text(note.read_text().replace('"beat": 1', '"beat": 0'))  # its driver died long ago
    for process in bench.units.processes.values():
        process.kill()
        process.wait()
    removal = ModelRemoval(str(bench.target), bench.units)
    removal.check_users()
    assert removal.remove() == []
    assert (bench.units.processes, bench.target.exists()) == ({}, False)


def test_absent_is_refused_where_it_is_used_or_not_ours(
    bench: Bench, user: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    bench.download()
    process = user(cwd=bench.target)
    with pytest.raises(
        TransferFailed, match=rf"is in use by .*process {process.pid} \(.*stop it, then remove the model"
    ):
        ModelRemoval(str(bench.target), bench.units).check_users()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "thesis.txt").write_text("years")
    with pytest.raises(TransferFailed, match="has no records of model_download"):
        assert ModelRemoval(str(tmp_path / "foreign"), bench.units).needed
    (tmp_path / "link").symlink_to(bench.target)
    with pytest.raises(TransferFailed, match="is not a directory: model_download did not make it"):
        assert ModelRemoval(str(tmp_path / "link"), bench.units).needed


def test_a_removal_that_was_cut_off_goes_on(bench: Bench) -> None:
    bench.download()
    (bench.target / "config.json").unlink()
    (bench.target / "m-1.safetensors").unlink()
    removal = ModelRemoval(str(bench.target), bench.units)
    assert removal.needed
    removal.remove()
    assert not bench.target.exists()


def test_a_run_that_got_the_lock_of_a_removed_directory_knows(bench: Bench) -> None:
    bench.download()
    with bench.plan().locked() as mine:
        assert mine
        ModelRemoval(str(bench.target), bench.units).remove()
    with bench.plan().locked() as mine:
        assert mine
