# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The difference travels as one stream, and what is built from it is the reference's tree."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import (
    difference,
    manifest,
    receipt,
    scan,
    staging,
    swap,
    transfer,
)

LATER_NS = 2_000_000_000 * 10**9


def make(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def listed(root: Path) -> list[manifest.Entry]:
    if not root.is_dir():
        return []
    return scan.scan(scan.walk(str(root)), str(root), receipt.Receipt(lambda: LATER_NS), lambda: 0.0).entries


def move(reference: Path, target: Path, chunk: int) -> difference.Difference:
    """All steps of a sync but the network: returns the difference that it removed."""
    where = swap.places(str(target))
    wanted, present = listed(reference), listed(target)
    found = difference.compare(wanted, present, transfer.received(where.parts))
    files_list = str(reference) + ".files"
    transfer.save_files(files_list, found.contents, wanted)
    contents, files = transfer.load_files(files_list, str(reference))
    stream = transfer.Stream(contents)
    os.makedirs(where.parts, exist_ok=True)
    for offset in range(0, stream.length, chunk):
        out = io.BytesIO()
        transfer.send(stream, offset, chunk, files, out)
        out.seek(0)
        assert transfer.receive(stream, offset, chunk, out, where.parts) == []
    sources = staging.Sources(where.live, {entry.path: entry for entry in present}, where.parts)
    assert staging.build(where.new, wanted, sources) == []
    swap.swap(where, keep_previous=True)
    swap.remove(where.parts)
    return found


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    root = make(
        tmp_path / "reference",
        {
            "pyvenv.cfg": "home = /usr/bin\n",
            "lib/a.py": "a" * 1000,
            "lib/b.py": "b",
            "lib/same.py": "b",
            "lib/empty": "",
        },
    )
    (root / "lib/b.py").chmod(0o600)
    (root / "lib64").symlink_to("lib")
    (root / "lib/readonly").mkdir()
    (root / "lib/readonly/c").write_text("c")
    (root / "lib/readonly").chmod(0o555)
    return root


@pytest.mark.parametrize("chunk", [1, 7, 500, 1001, 10**6])
def test_a_bare_target_becomes_the_reference_whatever_the_chunks(reference: Path, tmp_path: Path, chunk: int) -> None:
    found = move(reference, tmp_path / "target", chunk)
    assert listed(tmp_path / "target") == listed(reference)  # times included
    assert found.bytes == 1000 + 16 + 1 + 1  # "b" travels once, though two files hold it


def test_a_second_run_finds_nothing(reference: Path, tmp_path: Path) -> None:
    move(reference, tmp_path / "target", 100)
    found = difference.compare(listed(reference), listed(tmp_path / "target"))
    assert not found.any
    assert found.contents == []


def test_only_the_difference_travels_and_the_live_tree_is_never_written(reference: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    move(reference, target, 100)
    make(reference, {"lib/b.py": "changed", "lib/new.py": "new"})
    (reference / "lib/a.py").rename(reference / "lib/renamed.py")
    (target / "lib/extra.py").write_text("extra")
    before = {entry.path: entry for entry in listed(target)}

    found = move(reference, target, 100)
    assert found.added == ["lib/new.py", "lib/renamed.py"]
    assert found.changed == ["lib/b.py"]
    assert found.removed == ["lib/a.py", "lib/extra.py"]
    assert found.bytes == len("changed") + len("new")
    assert listed(target) == listed(reference)
    assert {entry.path: entry for entry in listed(Path(str(target) + ".prev"))} == before


def test_a_file_with_another_mode_or_time_is_copied_and_not_shared(reference: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    move(reference, target, 100)
    (reference / "lib/a.py").chmod(0o640)
    os.utime(reference / "lib/same.py", (1, 1))
    move(reference, target, 100)
    old = Path(str(target) + ".prev/lib")
    assert (target / "lib/a.py").stat().st_mode & 0o777 == 0o640
    assert (old / "a.py").stat().st_mode & 0o777 != 0o640
    assert (old / "same.py").stat().st_mtime != 1


def test_bytecode_makes_no_difference_but_travels_with_one(reference: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    move(reference, target, 100)
    make(reference, {"lib/__pycache__/a.pyc": "code"})
    assert not difference.compare(listed(reference), listed(target)).any
    make(reference, {"lib/new.py": "new"})
    move(reference, target, 100)
    assert (target / "lib/__pycache__/a.pyc").read_text() == "code"


def test_a_run_that_was_cut_short_goes_on_where_it_stopped(reference: Path, tmp_path: Path) -> None:
    parts = tmp_path / "target.parts"
    parts.mkdir()
    (digest,) = [entry.content for entry in listed(reference) if entry.path == "lib/a.py"]
    (parts / digest).write_text("a" * 1000)
    (parts / (digest + transfer.PARTIAL)).write_text("half")
    found = difference.compare(listed(reference), [], transfer.received(str(parts)))
    assert digest not in [content.digest for content in found.contents]


def test_other_bytes_than_promised_are_refused(tmp_path: Path) -> None:
    contents = [difference.Content("0" * 64, 1000), difference.Content("1" * 64, 1)]
    stream = transfer.Stream(contents)
    wrong = transfer.receive(stream, 0, 400, io.BytesIO(b"x" * 400), str(tmp_path))
    wrong += transfer.receive(stream, 400, 601, io.BytesIO(b"x" * 601), str(tmp_path))
    assert wrong == ["0" * 64, "1" * 64]
    assert transfer.received(str(tmp_path)) == []


def test_a_file_that_shrank_does_not_shift_what_follows(reference: Path, tmp_path: Path) -> None:
    wanted = listed(reference)
    contents = difference.compare(wanted, []).contents
    files = {entry.content: str(reference / entry.path) for entry in wanted if entry.kind == "f"}
    (reference / "lib/a.py").write_text("a")
    out = io.BytesIO()
    stream = transfer.Stream(contents)
    transfer.send(stream, 0, stream.length, files, out)
    out.seek(0)
    wrong = transfer.receive(stream, 0, stream.length, out, str(tmp_path))
    assert wrong == [entry.content for entry in wanted if entry.path == "lib/a.py"]


def test_a_short_chunk_is_an_error(tmp_path: Path) -> None:
    stream = transfer.Stream([difference.Content("0" * 64, 10)])
    with pytest.raises(ValueError, match="the chunk ends 4 bytes before"):
        transfer.receive(stream, 0, 10, io.BytesIO(b"123456"), str(tmp_path))


def test_a_receiver_cannot_ask_for_what_the_manifest_does_not_have(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        transfer.save_files(str(tmp_path / "f"), [difference.Content("0" * 64, 1)], listed(reference))


def test_missing_content_stops_the_build_unless_it_is_bytecode(tmp_path: Path) -> None:
    root = manifest.Entry(".", "d", 0o755, 0, 0, "")
    cache = manifest.Entry("__pycache__", "d", 0o755, 0, 0, "")
    code = manifest.Entry("__pycache__/a.pyc", "f", 0o644, 1, 0, "0" * 64)
    source = manifest.Entry("a.py", "f", 0o644, 1, 0, "1" * 64)
    sources = staging.Sources(str(tmp_path / "live"), {}, str(tmp_path / "parts"))
    assert staging.build(str(tmp_path / "one"), [root, cache, code], sources) == ["__pycache__/a.pyc"]
    with pytest.raises(FileNotFoundError, match=r"for a\.py"):
        staging.build(str(tmp_path / "two"), [root, source], sources)


def test_a_swap_that_stopped_half_way_is_undone(tmp_path: Path) -> None:
    make(tmp_path / "venv.prev", {"old": ""})
    make(tmp_path / "venv.new", {"new": ""})
    where = swap.places(str(tmp_path / "venv"))
    assert swap.recover(where)
    assert (tmp_path / "venv/old").exists()
    assert os.listdir(tmp_path) == ["venv"]
    assert not swap.recover(where)


def test_only_one_previous_tree_is_kept_or_none(tmp_path: Path) -> None:
    where = swap.places(str(tmp_path / "venv"))
    for number in ("1", "2", "3"):
        make(Path(where.new), {number: ""})
        swap.swap(where, keep_previous=True)
    assert sorted(os.listdir(tmp_path)) == ["venv", "venv.prev"]
    assert os.listdir(where.prev) == ["2"]
    make(Path(where.new), {"4": ""})
    swap.swap(where, keep_previous=False)
    assert os.listdir(tmp_path) == ["venv"]


def test_a_long_difference_is_summed_up() -> None:
    found = difference.Difference([f"file{n:03}" for n in range(100)], ["changed"], ["gone"], [])
    lines = difference.summary(found)
    assert lines[:3] == ["- gone", "~ changed", "+ file000"]
    assert lines[-1] == "... and 62 more"
    assert len(lines) == difference.DIFF_LINES + 1
