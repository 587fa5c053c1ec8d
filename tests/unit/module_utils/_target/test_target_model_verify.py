# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Directories as people really had them, each rebuilt small: what is wrong is named, what is right is not blamed."""

from __future__ import annotations

import errno
import fcntl
import json
import os
from pathlib import Path
from typing import Any, Callable

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import Manifest, ManifestFile, public
from ansible_collections.inferops.sglang.plugins.module_utils._target import hashing
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_records import held_still, read_records
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_tree import read_tree
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_verify import Verification, Wish
from unit.module_utils._target.made_models import (
    INDEX,
    manifest_of,
    shard_name,
    write_hub_cache,
    write_hub_metadata,
    write_index,
    write_model,
    write_receipts,
    write_shard,
)

FIRST, SECOND = shard_name(1, 2), shard_name(2, 2)


def plan(
    root: Path, verify: str, manifest: Manifest | None = None, resume: dict[str, Any] | None = None, **wish: Any
) -> Verification:
    tree = read_tree(str(root))
    records = read_records(tree)
    source = "file" if manifest else records.source
    wanted = records.wanted if source == "download" else None
    values: dict[str, Any] = {"include": (), "exclude": (), "threads": 2}
    values.update(wish)
    chosen = Wish(verify, manifest or records.manifest, wanted, source, **values)
    return Verification(chosen, tree, records, resume or {})


def verify(root: Path, level: str = "structure", manifest: Manifest | None = None, **wish: Any) -> dict[str, Any]:
    verification = plan(root, level, manifest, **wish)
    if level == "full":
        assert verification.hash(float("inf"))
    return verification.judge()


def messages(result: dict[str, Any]) -> str:
    return "\n".join(defect["message"] for defect in result["defects"])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    root = tmp_path / "model"
    write_model(root)
    return root


@pytest.mark.parametrize("level", ["receipts", "structure", "full"])
def test_a_good_directory_has_no_defect_and_no_remark(model: Path, level: str) -> None:
    result = verify(model, level, manifest_of(model))
    assert (result["defects"], result["remarks"], result["ok"]) == ([], [], True)
    assert result["proven"] is (level == "full")


def cut(file: Path, size: int) -> None:
    os.truncate(file, size)


def overwrite(file: Path, place: int, content: bytes) -> None:
    with file.open("rb+") as stream:
        stream.seek(place)
        stream.write(content)


def punch(file: Path) -> None:
    """A transfer that reserved the file and was killed after its first megabyte (aria2, table row a18)."""
    size = file.stat().st_size
    start = file.read_bytes()[:8192]
    file.unlink()
    with file.open("wb") as stream:
        stream.write(start)
        stream.truncate(size)


def reserve(file: Path) -> None:
    """The same with blocks that are allocated, and still unwritten (aria2's file-allocation=falloc)."""
    size = file.stat().st_size
    punch(file)
    with file.open("rb+") as stream:
        os.posix_fallocate(stream.fileno(), 0, size)


def refill(file: Path, content: bytes) -> None:
    file.write_bytes(content)


# name: damage, kind and words of the defect that has to be named first
REPORTS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "sglang 32279: the index names a shard that is not there": (
        lambda root: (root / SECOND).unlink(), "index", f"{INDEX}: it names {SECOND}, which is not there",
    ),
    "vmlx-swift 217: a shard is short": (
        lambda root: cut(root / FIRST, 100_000), "truncated", f"{FIRST}: it is cut off at byte 100000",
    ),
    "PersuGPT 2: the first shard is truncated by a byte": (
        lambda root: cut(root / FIRST, (root / FIRST).stat().st_size - 1), "truncated", "so 1 are missing, of 1 tensors",
    ),
    "onnx-web 165: cut inside the header": (
        lambda root: cut(root / FIRST, 60), "truncated", "it ends inside its header",
    ),
    "airllm 93: a pointer of Git LFS": (
        lambda root: refill(root / FIRST, b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
        "disguise", f"{FIRST}: it is a Git LFS pointer",
    ),
    "diffusers 13559: a pointer in place of the tokenizer": (
        lambda root: refill(root / "tokenizer.json", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"),
        "disguise", "tokenizer.json: it is a Git LFS pointer",
    ),
    "a login page with status 200": (
        lambda root: refill(root / FIRST, b"<!DOCTYPE html><html>Sign in</html>" * 9), "disguise", "it is a web page",
    ),
    "an error text": (
        lambda root: refill(root / FIRST, b"Entry not found"), "disguise", "'Entry not found'",
    ),
    "half a configuration": (
        lambda root: refill(root / "config.json", b'{"model_type": "ma'), "disguise", "config.json: it is not valid JSON",
    ),
    "huggingface_hub 4725: the index gives a shard a tensor that it lacks": (
        lambda root: edit_index(root, lambda m: m.update({"mtp.fc.weight": SECOND})), "index",
        f"it says that {SECOND} holds tensor 'mtp.fc.weight'; the file does not",
    ),
    "the index lacks a tensor of a shard": (
        lambda root: edit_index(root, lambda m: m.pop("layers.2.up.weight")), "index",
        f"{SECOND} holds tensor 'layers.2.up.weight', which the index does not give it",
    ),
    "mlx-vlm 1827: the index is of another quantisation": (
        lambda root: edit_index(root, rename_shards), "index", "it names old-1.safetensors, which is not there",
    ),
    "two shards changed places": (
        lambda root: swap(root / FIRST, root / SECOND), "index", f"it says that {FIRST} holds tensor 'layers.1",
    ),
    "CoSER 3: the index expects more shards than there are": (
        lambda root: edit_index(root, lambda m: m.update({f"layers.{n}.w": shard_name(n, 30) for n in range(3, 31)})), "index",
        "it names model-00003-of-00030.safetensors, which is not there",
    ),
    "kimi-k3-in-c 6: shards of the right size that are holes": (
        lambda root: punch(root / FIRST), "hole", "were never written and read as zeros, tensor 'layers.1.up.weight' first",
    ),
    "aria2 row a20: space reserved and never filled": (
        lambda root: overwrite(root / FIRST, 0, bytes((root / FIRST).stat().st_size)), "zeros", "its header is all zeros",
    ),
    "aria2 row a22: the header is there, the body is zeros": (
        lambda root: zero_body(root / FIRST), "zeros", "pages looked at hold zeros",
    ),
    "aria2 has not finished": (
        lambda root: (root / f"{FIRST}.aria2").write_bytes(b"x"), "unfinished", f"aria2 has not finished {FIRST}",
    ),
    "rsync has not finished": (
        lambda root: (root / f".{FIRST}.Ab3dEf").write_bytes(b"x"), "unfinished", f"rsync has not finished {FIRST}",
    ),
    "the same tensor twice in one file, stricter than the crate": (
        lambda root: overwrite(root / FIRST, 0, twins(root / FIRST)), "duplicate", "its header names 'layers.1.up.weight' twice",
    ),
}  # fmt: skip


def edit_index(root: Path, change: Callable[[dict[str, str]], object]) -> None:
    index = json.loads((root / INDEX).read_text())
    change(index["weight_map"])
    write_index(root, index["weight_map"], index["metadata"]["total_size"])


def rename_shards(weight_map: dict[str, str]) -> None:
    for name in weight_map:
        weight_map[name] = "old-1.safetensors"


def swap(one: Path, other: Path) -> None:
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)


def zero_body(file: Path) -> None:
    begin = 8 + int.from_bytes(file.read_bytes()[:8], "little")
    overwrite(file, begin, bytes(file.stat().st_size - begin))


def twins(file: Path) -> bytes:
    raw = file.read_bytes()
    return (
        raw[: 8 + int.from_bytes(raw[:8], "little")]
        .replace(b"layers.1.down.weight", b"layers.1.up.weight", 1)
        .replace(b"}}", b"}}  ", 1)
    )


@pytest.mark.parametrize("report", REPORTS)
def test_a_known_report_is_found_without_hashing(model: Path, report: str) -> None:
    damage, kind, words = REPORTS[report]
    damage(model)
    result = verify(model)
    assert not result["ok"]
    assert words in messages(result)
    assert kind in [defect["kind"] for defect in result["defects"]]


@pytest.mark.parametrize("report", REPORTS)
def test_with_a_listing_and_every_hash_it_is_found_too(model: Path, report: str) -> None:
    manifest = manifest_of(model)
    REPORTS[report][0](model)
    left_over = report.endswith("has not finished")
    result = verify(model, "full", manifest)
    # A file that is proven right needs no rest of its transfer, so the rest is a remark.
    assert (result["ok"], result["proven"]) == (left_over, left_over)
    assert bool(result["remarks"]) >= left_over


@pytest.mark.parametrize(
    "damage",
    [
        lambda root: overwrite(root / FIRST, 70_000, b"\x00\x01\x02"),  # huggingface_hub 3643, mold 45
        lambda root: overwrite(root / "config.json", 2, b"M"),
    ],
)
def test_only_a_hash_finds_a_changed_byte_and_names_both_digests(model: Path, damage: Callable[[Path], object]) -> None:
    manifest = manifest_of(model)
    damage(model)
    assert verify(model, "structure", manifest)["ok"]
    result = verify(model, "full", manifest)
    assert "its content is wrong: its digest is" in messages(result)
    assert [defect["kind"] for defect in result["defects"]] == ["digest"]


@pytest.mark.parametrize("level", ["receipts", "structure", "full"])
def test_a_wrong_size_and_a_missing_file_are_found_on_every_level(model: Path, level: str) -> None:
    manifest = manifest_of(model)
    cut(model / FIRST, 100_000)
    (model / "config.json").unlink()
    text = messages(verify(model, level, manifest))
    assert "config.json: it is missing" in text
    assert f"{FIRST}: it has 100000 bytes, the listing has" in text


def test_a_hole_that_the_digest_proves_is_meant_is_no_defect(model: Path) -> None:
    punch(model / FIRST)
    manifest = manifest_of(model)
    assert verify(model, "structure", manifest)["defects"][0]["kind"] == "hole"
    assert verify(model, "full", manifest)["ok"]


@pytest.mark.parametrize("damage", [punch, reserve])
@pytest.mark.parametrize("tells_holes", [True, False])
def test_what_was_never_written_is_found_on_every_file_system(
    model: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None], tells_holes: bool
) -> None:
    """Some call unwritten blocks data, and some do not know the question (lseek(2): EINVAL): the zeros themselves tell."""
    damage(model / FIRST)
    lseek = os.lseek

    def silent(descriptor: int, place: int, whence: int) -> int:
        if whence in (os.SEEK_HOLE, os.SEEK_DATA):
            raise OSError(errno.EINVAL, "Invalid argument")
        return lseek(descriptor, place, whence)

    if not tells_holes:
        monkeypatch.setattr(os, "lseek", silent)
    result = verify(model)
    assert not result["ok"]
    assert {defect["file"] for defect in result["defects"]} == {FIRST}
    assert {defect["kind"] for defect in result["defects"]} <= ({"hole", "zeros"} if tells_holes else {"zeros"})


def test_zeros_at_the_end_of_a_file_are_a_remark(model: Path) -> None:
    size = (model / FIRST).stat().st_size
    overwrite(model / FIRST, size - 40_000, bytes(40_000))
    result = verify(model)
    assert result["ok"]
    assert "its end holds zeros, from about byte" in result["remarks"][0]
    assert "layers.1.down.weight" in result["remarks"][0]


@pytest.mark.parametrize(
    ("total", "words"), [(1, "its total_size is 1, the tensors"), ("many", "its total_size is 'many'"), (None, "")]
)
def test_a_total_size_that_does_not_add_up_is_a_remark(model: Path, total: Any, words: str) -> None:
    index = json.loads((model / INDEX).read_text())
    write_index(model, index["weight_map"], total)
    result = verify(model)
    assert result["ok"]
    assert words in "".join(result["remarks"])


def test_a_small_last_shard_is_legitimate(tmp_path: Path) -> None:
    """auto-round 1782: the writer splits between tensors."""
    write_shard(tmp_path / FIRST, {"a": 900_000})
    write_shard(tmp_path / SECOND, {"b": 3})
    write_index(tmp_path, {"a": FIRST, "b": SECOND}, 900_003)
    assert verify(tmp_path)["defects"] == []


def test_a_stray_shard_beside_an_index_is_a_remark_and_without_an_index_a_defect(model: Path) -> None:
    manifest = manifest_of(model)
    write_shard(model / "model.safetensors", {"layers.1.up.weight": 8})
    result = verify(model, "structure", manifest)
    assert result["ok"]
    assert (
        "model.safetensors: it does not belong to the model, and a reader that takes every file" in result["remarks"][0]
    )
    assert "does not name model.safetensors" in "".join(verify(model)["remarks"])
    (model / INDEX).unlink()
    result = verify(model, "structure", Manifest("", "", tuple(f for f in manifest.files if f.path != INDEX)))
    assert [(defect["file"], defect["kind"]) for defect in result["defects"]] == [("model.safetensors", "extra")]
    assert "tensor 'layers.1.up.weight' is in" in messages(verify(model))


def test_shards_that_only_the_names_of_others_tell_of_are_missed(tmp_path: Path) -> None:
    """safetensors 295: a converter on a network file system left shards 3 and 7 of 9, and no index yet."""
    for number in (3, 7):
        write_shard(tmp_path / shard_name(number, 9), {f"layers.{number}.w": 8})
    sentence = "by its name it is one of 9 shards, and model-00001-of-00009.safetensors (and 6 more) is not there"
    result = verify(tmp_path)
    assert messages(result) == f"{shard_name(3, 9)}: {sentence}"
    assert [defect["kind"] for defect in result["defects"]] == ["missing"]
    # A listing knows better than names do, and an index too.
    assert verify(tmp_path, "structure", manifest_of(tmp_path))["ok"]
    write_index(tmp_path, {f"layers.{number}.w": shard_name(number, 9) for number in (3, 7)}, 16)
    assert verify(tmp_path)["ok"]


def test_a_whole_series_misses_nothing(tmp_path: Path) -> None:
    for number in (1, 2):
        write_shard(tmp_path / shard_name(number, 2), {f"layers.{number}.w": 8})
    (tmp_path / "vae").mkdir()
    write_shard(tmp_path / "vae" / shard_name(1, 1), {"encoder": 8})
    assert verify(tmp_path)["ok"]


def test_extra_files_that_programs_load_are_told_with_their_kind(model: Path) -> None:
    manifest = manifest_of(model)
    for name in (
        "pytorch_model.bin",
        "consolidated.00.pth",
        "chat_template.jinja",
        "modeling_x.py",
        "README.md",
        "optimizer.bin",
    ):
        (model / name).write_text("x")
    (model / "runs").mkdir()
    (model / "runs" / "y.safetensors").write_text("x")
    found = {extra["file"]: extra["kind"] for extra in verify(model, "receipts", manifest)["extra_files"]}
    assert found == {
        "pytorch_model.bin": "weights", "consolidated.00.pth": "weights", "chat_template.jinja": "tokenizer", "modeling_x.py": "code",
    }  # fmt: skip


def test_receipts_prove_a_file_until_it_is_touched_and_nothing_is_read(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_receipts(model, manifest_of(model))
    monkeypatch.setattr("builtins.open", only_state(open))
    monkeypatch.setattr(os, "pread", refuse)
    result = verify(model, "receipts")
    assert (result["source"], result["proven"], result["receipt_files"]) == ("download", True, 5)
    os.utime(model / FIRST)
    result = verify(model, "receipts")
    assert (result["proven"], result["unproven"]) == (False, [FIRST])


def only_state(real: Any) -> Any:
    def opened(path: Any, *arguments: Any, **options: Any) -> Any:
        assert isinstance(path, int) or ".model_download" in str(path) or ".cache" in str(path), path
        return real(path, *arguments, **options)

    return opened


def refuse(*_arguments: Any) -> None:
    raise AssertionError("content was read")


def test_files_left_out_on_purpose_are_not_missed(model: Path) -> None:
    manifest = manifest_of(model)
    write_receipts(
        model, Manifest(manifest.repository, manifest.commit, tuple(f for f in manifest.files if f.path != SECOND))
    )
    (model / ".model_download" / "manifest.json").write_text(
        json.dumps({"commit": manifest.commit, "files": [public(file) for file in manifest.files]})
    )
    (model / SECOND).unlink()
    assert verify(model)["defects"] == []
    assert verify(model, "structure", manifest, exclude=["*-00002-*"])["defects"] == []


def test_a_directory_of_the_hubs_client_is_proven_without_network(model: Path) -> None:
    write_hub_metadata(model, manifest_of(model))
    result = verify(model, "full")
    assert (result["source"], result["proven"], result["hashed_files"]) == ("huggingface", True, 5)
    overwrite(model / FIRST, 70_000, b"\x00\x01\x02")
    assert not verify(model, "full")["ok"]


def test_so_is_a_snapshot_in_its_cache(model: Path, tmp_path: Path) -> None:
    snapshot = write_hub_cache(tmp_path / "hub", model)
    result = verify(snapshot, "full")
    assert (result["source"], result["repository"], result["proven"]) == ("huggingface", "org/made", True)
    os.unlink(os.path.realpath(snapshot / FIRST))
    assert f"{FIRST}: it is a link to '../../blobs/" in messages(verify(snapshot))


def test_an_unfinished_transfer_of_the_hubs_client_is_told(model: Path) -> None:
    write_hub_metadata(model, manifest_of(model))
    (model / ".cache/huggingface/download/abc.incomplete").write_text("x")
    (model / ".partial-x").mkdir()
    assert len(verify(model)["remarks"]) == 2


def test_hashing_goes_on_where_a_slice_ended(model: Path) -> None:
    manifest = manifest_of(model)
    first = plan(model, "full", manifest)
    ticks = iter([0.0, 0.0, 5.0, 20.0, 20.0, 20.0, 20.0, 20.0])
    first.clock = lambda: next(ticks)
    first.wish = Wish("full", manifest, None, "file", (), (), 1)
    assert not first.hash(10.0)
    assert "files" in first.progress
    kept = json.loads(json.dumps(first.resume))
    assert 0 < len(kept["hashed"]) < 5
    second = plan(model, "full", manifest, kept)
    assert second.hash(float("inf"))
    assert second.judge()["proven"]
    assert second.judge()["hash_bytes"] == sum(file.size for file in manifest.files)


def test_a_slice_that_begins_late_still_gets_on(model: Path) -> None:
    late = plan(model, "full", manifest_of(model), threads=1)
    assert not late.hash(0.0)
    assert len(late.hashed) == 1


def test_a_file_that_changed_after_its_slice_is_hashed_again(model: Path) -> None:
    manifest = manifest_of(model)
    done = plan(model, "full", manifest)
    done.hash(float("inf"))
    overwrite(model / FIRST, 70_000, b"\x00\x01\x02")
    again = plan(model, "full", manifest, done.resume)
    again.hash(float("inf"))
    assert not again.judge()["ok"]


def test_a_file_that_is_written_while_it_is_read_is_told(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LlamaFactory 2922: the reader raced with a writer."""
    real = hashing.digest_of

    def slow(stream: Any, kind: str, size: int) -> str:
        digest = real(stream, kind, size)
        os.utime(stream.name, (1, 1))
        return digest

    monkeypatch.setattr(hashing, "digest_of", slow)
    assert "it changed while it was read" in messages(verify(model, "full", manifest_of(model)))


def test_a_directory_that_a_download_works_in_is_left_alone(model: Path) -> None:
    write_receipts(model, manifest_of(model))
    with held_still(str(model)) as still:
        assert still
    with (model / ".model_download/lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with held_still(str(model)) as still:
            assert not still


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_told(model: Path) -> None:
    (model / FIRST).chmod(0)
    assert "it cannot be opened: Permission denied" in messages(verify(model))


def test_what_is_no_file_is_told(model: Path) -> None:
    (model / FIRST).unlink()
    os.mkfifo(model / FIRST)
    manifest = Manifest("", "", (ManifestFile(FIRST, 1, "sha256:" + 64 * "a"),))
    assert "it is neither a file nor a directory" in messages(verify(model, "receipts", manifest))
