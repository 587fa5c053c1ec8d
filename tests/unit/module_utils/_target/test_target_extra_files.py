# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files beside a model that would be loaded with it."""

from __future__ import annotations

from pathlib import Path

from ansible_collections.inferops.sglang.plugins.module_utils._target.extra_files import (
    find_extra,
    remove_extra,
    warning,
)

LISTED = ["config.json", "m-1.safetensors", "tokenizer.json"]
FOREIGN = ["m-2.safetensors", "modeling_other.py", "pytorch_model.bin"]
HARMLESS = ["notes.txt", "training_args.bin", ".cache/huggingface/x.safetensors", "backup/m-1.safetensors"]


def fill(path: Path) -> None:
    for name in LISTED + FOREIGN + HARMLESS:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(name)


def test_what_would_be_loaded_is_found_and_nothing_else_is_removed(tmp_path: Path) -> None:
    fill(tmp_path)
    extra = find_extra(str(tmp_path), LISTED)
    assert extra == FOREIGN
    remove_extra(str(tmp_path), [*extra, "gone-meanwhile.bin"])
    left = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert left == sorted(LISTED + HARMLESS)
    assert find_extra(str(tmp_path), LISTED) == []


def test_a_directory_that_is_not_there_yet_holds_nothing(tmp_path: Path) -> None:
    assert find_extra(str(tmp_path / "new"), LISTED) == []


def test_the_warning_names_them_and_the_way_out() -> None:
    text = warning("/srv/m", [f"{number}.bin" for number in range(25)])
    assert text.startswith("/srv/m also holds 0.bin, 1.bin,")
    assert "19.bin and 5 more" in text and "extra_files" in text
