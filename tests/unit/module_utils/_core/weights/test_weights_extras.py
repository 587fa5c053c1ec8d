# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names decide what a file is taken for; places decide where zeros are looked for."""

from __future__ import annotations

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.disguise import broken_json, impostor
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.extras import (
    Rest,
    extra_files,
    kind_of_file,
    unfinished,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.findings import Defects
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.header import Header, Tensor
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.holes import (
    PAGE_BYTES,
    judge_samples,
    sample_places,
    tensor_at,
)
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("model.safetensors", "weights"), ("sub/pytorch_model-00001-of-00002.bin", "weights"), ("x.pt", "weights"),
        ("consolidated.00.pth", "weights"), ("a.gguf", "weights"), ("tokenizer.model", "tokenizer"), ("config.json", "configuration"),
        ("hf_quant_config.json", "configuration"), ("model.safetensors.index.json", "index"), ("modeling_kimi.py", "code"),
        ("training_args.bin", None), ("README.md", None), (".hidden.safetensors", None), (".gitattributes", None),
    ],
)  # fmt: skip
def test_what_a_file_is_taken_for(path: str, kind: str | None) -> None:
    assert kind_of_file(path) == kind


def test_only_directories_that_a_reader_looks_into_have_extra_files() -> None:
    present = [
        "a.safetensors",
        "b.safetensors",
        "old/c.safetensors",
        "original/d.pth",
        ".cache/e.bin",
        ".partial-x/f.bin",
    ]
    listed = ["a.safetensors", "original/params.json"]
    assert [extra.path for extra in extra_files(present, listed)] == ["b.safetensors", "original/d.pth"]


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("d/m.safetensors.aria2", "d/m.safetensors"), ("m.bin.incomplete", "m.bin"), (".m.safetensors.Ab12Cd", "m.safetensors"),
        ("m.part", "m"), (".gitattributes", None), ("m.safetensors", None), ("partial", None),
    ],
)  # fmt: skip
def test_rests_of_transfers_are_known_by_their_names(path: str, target: str | None) -> None:
    found = unfinished(path)
    assert (found.target if isinstance(found, Rest) else None) == target


@given(st.integers(0, 400_000), st.integers(2, 300_000))
def test_samples_are_whole_pages_inside_the_data(data_bytes: int, header_bytes: int) -> None:
    header = Header((Tensor(0, data_bytes, "t", "U8", (data_bytes,)),), {}, data_bytes, header_bytes)
    places = sample_places(header)
    assert places == sorted(set(places))
    assert len(places) <= 64
    for place in places:
        assert place % PAGE_BYTES == 0
        assert header.data_begin <= place <= header.data_begin + data_bytes - PAGE_BYTES


def test_some_zeros_are_a_warning_and_half_a_file_of_them_is_a_defect() -> None:
    header = Header((Tensor(0, 80_000, "a", "U8", (1,)), Tensor(80_000, 160_000, "b", "U8", (1,))), {}, 160_000, 56)
    places = sample_places(header)
    defects = Defects()
    assert judge_samples(header, places, [], defects) is None
    assert "the first at byte 4096 (tensor 'a')" in str(judge_samples(header, places, places[:2], defects))
    assert "its end holds zeros" in str(judge_samples(header, places, places[-3:], defects))
    half = -(-len(places) // 2)
    assert "its end holds zeros" in str(judge_samples(header, places, places[1 - half :], defects))
    assert "pages looked at hold only zeros" in str(judge_samples(header, places, places[:-1], defects))
    assert defects.total == 0
    for count, words in ((half, f"the last {half} of {len(places)} pages"), (len(places), f"all {len(places)} pages")):
        assert judge_samples(header, places, places[-count:], defects) is None
        assert words in list(defects)[-1].message
    assert [defect.kind for defect in defects] == ["zeros", "zeros"]
    assert tensor_at(header, 80_064) == header.entries[1]
    assert tensor_at(header, 999_999) is None


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        ("a.json", b"", "it is not valid JSON"),
        ("a.json", b"[1, 2", "it is not valid JSON"),
        ("a.json", b'{"a": ' + 2**20 * b" " + b"1", "it begins with '{' and ends with '1'"),
        ("a.json", b"{" + 2**20 * b" " + b"} \n", None),
        ("a.json", b"\xef\xbb\xbf{}", None),
        ("a.txt", b"{", None),
        ("page.html", b"<html>", None),
        ("a.model", b"<html>", "it is a web page"),
        ("a.py", b"version https://git-lfs.github.com/spec/v1\n", "it is a Git LFS pointer"),
    ],
)
def test_small_files_are_what_their_names_say(path: str, content: bytes, words: str | None) -> None:
    def read_at(offset: int, length: int) -> bytes:
        return content[offset : offset + length]

    sentence = impostor(path, content[:512], len(content)) or broken_json(path, read_at, len(content))
    assert sentence is None if words is None else words in str(sentence)
