# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The directory of a model tells finished, half and doubtful files apart by what is on the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import OnDisk
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import Manifest, ManifestFile
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.receipts import receipt_for
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_directory import ModelDirectory
from unit.module_utils._target.made_models import control_file

COMMIT = 40 * "c"
FILE = ManifestFile("sub/a.bin", 4, "sha256:" + 64 * "a")
MANIFEST = Manifest("org/m", COMMIT, (FILE,))


@pytest.fixture
def directory(tmp_path: Path) -> ModelDirectory:
    directory = ModelDirectory(str(tmp_path), COMMIT)
    directory.open_staging(MANIFEST)
    Path(directory.staged("sub")).mkdir()
    return directory


def stage(directory: ModelDirectory, content: bytes = b"1234", control: bytes | None = None) -> Path:
    file = Path(directory.staged(FILE.path))
    file.write_bytes(content)
    if control is not None:
        Path(f"{file}.aria2").write_bytes(control)
    return file


def test_a_control_file_means_unfinished_whatever_the_size(directory: ModelDirectory) -> None:
    stage(directory, control=control_file(FILE.size, pieces_there=False))
    assert directory.look(FILE.path, FILE.size).resumable


@pytest.mark.parametrize("control", [b"", b"\0\1", control_file(FILE.size + 1, pieces_there=False)])
def test_a_damaged_control_file_makes_the_file_worthless(directory: ModelDirectory, control: bytes) -> None:
    stage(directory, control=control)
    found = directory.look(FILE.path, FILE.size)
    assert (found.exists, found.resumable, found.size) == (True, False, -1)


def note_verified(directory: ModelDirectory, file: Path) -> None:
    directory.note_verified(FILE.path, str(file), receipt_for(file.stat(), FILE.digest, COMMIT))


def test_what_a_file_of_holes_holds_is_counted_by_its_blocks(directory: ModelDirectory) -> None:
    file = stage(directory, control=control_file(FILE.size, pieces_there=False))
    os.truncate(file, 1 << 20)
    assert directory.look(FILE.path, FILE.size).held_bytes < 1 << 16


def test_nothing_is_nothing(directory: ModelDirectory) -> None:
    assert directory.look("none", 1) == OnDisk()


def test_a_link_is_not_a_file_of_the_model(directory: ModelDirectory, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"1234")
    (tmp_path / "sub").mkdir()
    Path(directory.final(FILE.path)).symlink_to(tmp_path / "elsewhere")
    assert not directory.could_be_final(FILE)


def test_a_receipt_follows_the_file_to_its_name(directory: ModelDirectory, tmp_path: Path) -> None:
    note_verified(directory, stage(directory))
    assert ModelDirectory(str(tmp_path), COMMIT).is_staged(FILE)
    assert directory.publish(MANIFEST, [FILE])
    later = ModelDirectory(str(tmp_path), COMMIT)
    assert later.is_final(FILE)
    assert later.manifest("org/m") == MANIFEST
    assert later.manifest("org/other") is None
    assert not os.path.exists(later.staging)
    assert not later.publish(MANIFEST, [FILE])


def test_a_crash_between_names_and_receipts_costs_no_second_hash(directory: ModelDirectory, tmp_path: Path) -> None:
    note_verified(directory, stage(directory))
    (tmp_path / "sub").mkdir()
    os.replace(directory.staged(FILE.path), directory.final(FILE.path))
    assert ModelDirectory(str(tmp_path), COMMIT).is_final(FILE)


def test_what_another_commit_left_unfinished_is_thrown_away(directory: ModelDirectory, tmp_path: Path) -> None:
    stage(directory)
    ModelDirectory(str(tmp_path), 40 * "d").open_staging(Manifest("org/m", 40 * "d", ()))
    assert not os.path.exists(directory.staging)


def test_damaged_state_is_as_good_as_none(directory: ModelDirectory, tmp_path: Path) -> None:
    note_verified(directory, stage(directory))
    directory.publish(MANIFEST, [FILE])
    for name in ("receipts.json", "manifest.json"):
        (tmp_path / ".model_download" / name).write_bytes(b"\xff{")
    later = ModelDirectory(str(tmp_path), COMMIT)
    assert not later.is_final(FILE)
    assert later.could_be_final(FILE)
    assert later.published_commit() is None
