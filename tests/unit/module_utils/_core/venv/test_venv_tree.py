# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree has an identity that says what is in it, and a file is read again only when it may have changed."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import manifest, receipt, scan

LONG_AGO_NS = 1_600_000_000 * 10**9
LATER_NS = 2_000_000_000 * 10**9


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "venv"
    (root / "lib/pkg/__pycache__").mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "lib/pkg/a.py").write_text("a = 1\n")
    (root / "lib/pkg/empty.py").write_text("")
    (root / "lib/pkg/__pycache__/a.cpython-311.pyc").write_bytes(b"bytecode")
    (root / "bin/run").write_text("#!/bin/sh\n")
    (root / "bin/run").chmod(0o755)
    (root / "bin/python").symlink_to("/usr/bin/python3")
    return root


def entries(root: Path, known: receipt.Receipt | None = None) -> list[manifest.Entry]:
    known = known or receipt.Receipt(lambda: LATER_NS)
    return scan.scan(scan.walk(str(root)), str(root), known, lambda: 0.0).entries


def identity(root: Path) -> str:
    return manifest.identity(entries(root))


def test_every_kind_of_entry_is_listed_with_what_makes_it_that_thing(tree: Path) -> None:
    listed = {entry.path: entry for entry in entries(tree)}
    assert listed["."].kind == "d"
    assert listed["bin/python"][1:] == ("l", 0, 0, 0, "/usr/bin/python3")
    assert (listed["bin/run"].mode, listed["bin/run"].size) == (0o755, 10)
    assert listed["lib/pkg/empty.py"].content == manifest.EMPTY


@pytest.mark.parametrize(
    ("change", "differs"),
    [
        (lambda root: (root / "lib/pkg/a.py").write_text("a = 2\n"), True),
        (lambda root: (root / "bin/run").chmod(0o700), True),
        (lambda root: (root / "lib/pkg/empty.py").unlink(), True),
        (lambda root: (root / "lib/new").mkdir(), True),
        (lambda root: ((root / "bin/python").unlink(), (root / "bin/python").symlink_to("/usr/bin/python3.12")), True),
        (lambda root: os.utime(root / "lib/pkg/a.py", (1, 1)), False),
        (lambda root: (root / "lib/pkg/__pycache__/b.pyc").write_bytes(b"x"), False),
    ],
)
def test_identity_changes_with_the_tree_but_not_with_times_and_bytecode(
    tree: Path, change: object, differs: bool
) -> None:
    before = identity(tree)
    change(tree)  # type: ignore[operator]
    assert (identity(tree) != before) is differs


def test_the_shape_needs_no_content_and_misses_only_that(tree: Path) -> None:
    before = manifest.identity(scan.shape(scan.walk(str(tree))), contents=False)
    assert before == manifest.identity(entries(tree), contents=False)
    (tree / "lib/pkg/a.py").write_text("a = 2\n")
    assert manifest.identity(scan.shape(scan.walk(str(tree))), contents=False) == before
    (tree / "lib/pkg/a.py").write_text("a = 10\n")
    assert manifest.identity(scan.shape(scan.walk(str(tree))), contents=False) != before


def test_excluded_names_and_paths_are_not_of_the_tree(tree: Path) -> None:
    paths = [item.path for item in scan.walk(str(tree), ["*.py", "bin/r*"], bytecode=False)]
    assert paths == [".", "bin", "bin/python", "lib", "lib/pkg"]


def test_a_settled_file_is_read_once(tree: Path, tmp_path: Path) -> None:
    known = receipt.Receipt(lambda: LATER_NS)
    first = entries(tree, known)
    known.save(str(tmp_path / "cache/r.json.gz"))

    again = receipt.load(str(tmp_path / "cache/r.json.gz"), lambda: LATER_NS)
    found = scan.walk(str(tree))
    result = scan.scan(found, str(tree), again, lambda: 0.0)
    assert result.hashed_bytes == 0
    assert result.entries == first


def test_an_edit_of_equal_size_with_the_old_time_put_back_is_seen(tree: Path, tmp_path: Path) -> None:
    known = receipt.Receipt(lambda: LATER_NS)
    before = entries(tree, known)
    known.save(str(tmp_path / "r.json.gz"))
    path = tree / "lib/pkg/a.py"
    old = path.stat()
    path.write_text("a = 3\n")
    os.utime(path, ns=(old.st_atime_ns, old.st_mtime_ns))

    after = entries(tree, receipt.load(str(tmp_path / "r.json.gz"), lambda: LATER_NS))
    assert manifest.identity(after) != manifest.identity(before)


def test_a_file_that_was_written_a_moment_ago_gets_no_receipt() -> None:
    known = receipt.Receipt(lambda: LONG_AGO_NS + 10**9)
    key = receipt.Key(1, LONG_AGO_NS, 7, LONG_AGO_NS)
    known.note("young", key, "d")
    assert not known.changed
    known = receipt.Receipt(lambda: LONG_AGO_NS + 3 * 10**9)
    known.note("settled", key, "d")
    assert known.changed


@pytest.mark.parametrize(
    "damage",
    [b"", b"no gzip", gzip.compress(b"{"), gzip.compress(json.dumps({"format": 1, "files": [[1]]}).encode())],
    ids=["empty", "no gzip", "no JSON", "other entries"],  # compressed content has the time in it
)
def test_a_damaged_receipt_vouches_for_nothing(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "r.json.gz"
    path.write_bytes(damage)
    assert receipt.load(str(path), lambda: 0).digest("a", receipt.Key(0, 0, 0, 0)) == ""


def test_reading_stops_at_the_deadline_and_goes_on_from_there(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BATCH_FILES", 1)
    known = receipt.Receipt(lambda: LATER_NS)
    found = scan.walk(str(tree))
    calls = 0
    while True:
        calls += 1
        result = scan.scan(found, str(tree), known, lambda: 100.0, deadline=0.0)
        if result.finished:
            break
        assert result.entries == []
        known = receipt.Receipt(lambda: LATER_NS, known._used)
    assert calls == 3  # one file a slice; the empty one is no work
    assert manifest.identity(result.entries) == identity(tree)


def test_a_manifest_survives_the_way(tree: Path, tmp_path: Path) -> None:
    (tree / os.fsdecode(b"not-utf8-\xff")).write_text("x")
    listed = entries(tree)
    manifest.save(str(tmp_path / "m"), listed)
    assert manifest.load(str(tmp_path / "m")) == listed


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "lib/../../x", "lib//x", "a\0b", "link/x", "missing/x"])
def test_a_manifest_that_leaves_its_tree_is_refused(tmp_path: Path, path: str) -> None:
    rows = [
        manifest.Entry(".", "d", 0o755, 0, 0, ""),
        manifest.Entry("lib", "d", 0o755, 0, 0, ""),
        manifest.Entry("link", "l", 0, 0, 0, "/etc"),
        manifest.Entry(path, "f", 0o644, 1, 0, "d"),
    ]
    manifest.save(str(tmp_path / "m"), rows)
    with pytest.raises(ValueError, match="the manifest names"):
        manifest.load(str(tmp_path / "m"))
