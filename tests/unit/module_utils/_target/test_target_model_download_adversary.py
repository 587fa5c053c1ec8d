# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What aria2 does to files and tokens (shared/field/downloads.md, table B1), met by the whole download.

Every test names its row. Rows that other files hold already: a10, a11, a12, a13, a21 test_target_model_download
(no_range, short_body, corrupt); a19, a31, a33 test_fetch_session (no reservation, no session file, no header).
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Iterator

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch import driver
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import Settings
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import Manifest
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.names import NameRefused
from ansible_collections.inferops.sglang.plugins.module_utils._target import aria2_unit
from ansible_collections.inferops.sglang.plugins.modules import model_download as model_download_module
from unit.module_utils._target.download_bench import TOKEN, Bench, hurry, needs_aria2c, open_bench, shard
from unit.module_utils._target.made_models import BLOCK_BYTES, PIECE_BYTES, control_file

pytestmark = needs_aria2c
SHARD = "m-1.safetensors"
FOR_EVER = -1


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    hurry(monkeypatch)
    with open_bench(tmp_path, monkeypatch) as bench:
        yield bench


def interrupted(bench: Bench, how: int) -> Path:
    """Where the files are after a first run whose aria2 was ended half-way by the signal *how*."""
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 600_000, "count": FOR_EVER})
    download = bench.plan(slice_seconds=8.0)
    bench.target.mkdir()
    with download.locked():
        assert not download.advance()
    for process in bench.units.processes.values():
        process.send_signal(how)
        process.wait()
    bench.pair.control.clear_faults()
    bench.pair.control.clear_requests()
    assert bench.finished() == []
    return Path(download.directory.staging)


def left_behind(bench: Bench, content: bytes | None, control: bytes | None, name: str = SHARD) -> None:
    """A shard as a run that is over may have left it."""
    staging = bench.target / f".partial-{bench.plan().commit}"
    staging.mkdir(parents=True, exist_ok=True)
    if content is not None:
        (staging / name).write_bytes(content)
    if control is not None:
        (staging / f"{name}.aria2").write_bytes(control)


def first_byte(entry: dict[str, Any]) -> int:
    return int(entry["range"][len("bytes=") :].partition("-")[0] or 0)


def zeros_behind_header(content: bytes) -> bytes:
    return content[:1000].ljust(len(content), b"\0")


def refused(bench: Bench, sentence: str, **changes: Any) -> None:
    """The download ends with *sentence*, nothing carries a name, and nothing goes on."""
    with pytest.raises((TransferFailed, HubError), match=sentence):
        bench.download(**changes)
    assert bench.finished() == []
    assert bench.units.processes == {}


@pytest.mark.parametrize("connections", [0, 17])
def test_a_number_of_connections_that_aria2_refuses_does_not_reach_it(bench: Bench, connections: int) -> None:
    """a1"""
    wish = {"repository": "org/model", "path": str(bench.target), "endpoint": bench.pair.url}
    done = subprocess.run(
        [sys.executable, "-m", model_download_module.__name__],
        input=json.dumps({"ANSIBLE_MODULE_ARGS": dict(wish, connections_per_file=connections)}),
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)), text=True, capture_output=True, check=False,
    )  # fmt: skip
    said = json.loads(done.stdout)["msg"]
    assert said == f"connections_per_file is {connections}; it must be between 1 and 16"
    assert bench.counts()["hub_requests"] == 0


@pytest.mark.parametrize("status", [401, 403, 408, 429, 500])
def test_a_status_of_the_cdn_is_met_with_a_fresh_address(bench: Bench, status: int) -> None:
    """a2, a3, a5, a6: aria2 gives up at once; the hub is asked for a new address."""
    bench.faults({"kind": "status", "origin": "cdn", "status": status, "count": 5})
    bench.download()
    bench.assert_same()
    asked = [entry for entry in bench.pair.control.requests()["log"] if entry["method"] == "HEAD"]
    assert len(asked) > 2


def test_a_cdn_that_is_busy_passes(bench: Bench) -> None:
    """a7: aria2 tries the same address again, with a pause of its own."""
    bench.faults(*({"kind": "status", "origin": "cdn", "status": status, "count": 2} for status in (502, 503, 504)))
    bench.download()
    bench.assert_same()


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
def test_a_status_of_the_cdn_that_stays_ends_the_download(bench: Bench, status: int) -> None:
    """a2, a3, a6: five attempts without a new byte are enough, and the message shows no signed address."""
    bench.faults({"kind": "status", "origin": "cdn", "status": status, "count": FOR_EVER})
    with pytest.raises(TransferFailed, match=r"Cannot fetch m-.\.safetensors: .*5 attempts in a row") as error:
        bench.download()
    assert "Signature" not in str(error.value)
    assert bench.finished() == []
    assert bench.units.processes == {}


def test_a_file_that_the_cdn_does_not_have_ends_the_download_at_once(bench: Bench) -> None:
    """a4"""
    bench.faults({"kind": "status", "origin": "cdn", "status": 404, "count": FOR_EVER})
    refused(bench, r"Cannot fetch m-.\.safetensors: the file is not there")


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
@pytest.mark.parametrize("match", ["/api/*", "*/resolve/*"])
def test_a_status_of_the_hub_passes(bench: Bench, status: int, match: str) -> None:
    """a5, a6, a7: of the API and of the resolver."""
    limit = {"RateLimit": '"api";r=0;t=2'} if status == 429 else {}
    bench.faults({"kind": "status", "origin": "hub", "status": status, "headers": limit, "match": match, "count": 3})
    bench.download()
    bench.assert_same()


@pytest.mark.parametrize(
    ("status", "headers", "sentence"),
    [
        (401, {}, "shows no repository org/model: it does not exist, or it is private and no token was given"),
        (401, {"X-Error-Message": "Invalid credentials in Authorization header"}, "does not know the given token"),
        (403, {"X-Error-Code": "GatedRepo"}, "org/model is gated and no token was given: accept the terms"),
        (
            403,
            {"X-Error-Message": "Access to this resource is disabled."},
            "403 .*: Access to this resource is disabled",
        ),
        (404, {"X-Error-Code": "EntryNotFound"}, r"has no file 'm-1\.safetensors' at this commit"),
    ],
)
def test_a_refusal_of_the_hub_in_the_middle_is_final(
    bench: Bench, status: int, headers: dict[str, str], sentence: str
) -> None:
    """a2, a3, a4: asking again cannot help, so it is asked once; the listing had been given before."""
    match = f"*/resolve/*/{SHARD}"
    rule = {"kind": "status", "origin": "hub", "status": status, "headers": headers, "match": match, "count": FOR_EVER}
    bench.faults(rule)
    refused(bench, sentence)
    asked = [entry for entry in bench.pair.control.requests()["log"] if entry["path"].endswith(SHARD)]
    assert len(asked) == 1


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"kind": "html200"}, id="a8: pages with status 200"),
        pytest.param({"kind": "other_length", "length": 1_000_000}, id="a11: less is announced"),
        pytest.param({"kind": "other_length", "length": 4_000_000}, id="a11: more is announced"),
    ],
)
def test_what_has_another_length_never_gets_a_name(bench: Bench, fault: dict[str, Any]) -> None:
    """aria2 calls 18 bytes of HTML a success. It may be done with them before anybody looks."""
    bench.faults(dict(fault, origin="cdn", count=FOR_EVER))
    refused(bench, r"\d+ bytes are offered, not the \d+ of the listing|arrived twice with content that is not")


def test_an_origin_that_offers_far_too_much_is_not_heard_out(bench: Bench) -> None:
    """a11: the disk was found large enough for the listing, not for that."""
    bench.faults({"kind": "other_length", "length": 4_000_000_000, "origin": "cdn", "count": FOR_EVER})
    refused(bench, r"4000000000 bytes are offered, not the \d+ of the listing", include=[SHARD])
    bench.pair.control.clear_faults()
    bench.download()
    bench.assert_same()


def test_a_redirect_in_a_circle_at_the_cdn_passes_or_ends(bench: Bench) -> None:
    """a9: aria2 follows twenty of them."""
    bench.faults({"kind": "redirect_loop", "origin": "cdn", "count": 25})
    bench.download()
    bench.assert_same()


def test_a_redirect_in_a_circle_at_the_cdn_that_stays_ends_the_download(bench: Bench) -> None:
    """a9"""
    bench.faults({"kind": "redirect_loop", "origin": "cdn", "count": FOR_EVER})
    refused(bench, r"Cannot fetch m-.\.safetensors: aria2 error 23: .* attempts in a row")


def test_a_resolver_that_limits_the_rate_for_ever_ends_the_download(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """a5"""
    monkeypatch.setattr(driver, "STALL_SECONDS", 30.0)
    bench.faults({"kind": "rate_limited", "origin": "hub", "match": f"*/resolve/*/{SHARD}", "count": FOR_EVER})
    refused(
        bench, r"Nothing arrived for 30 s \(the last trouble was with m-1\.safetensors: .* limits the rate of requests"
    )


def test_a_cdn_that_falls_silent_is_left_and_asked_again(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not slow: the connection stays and nothing comes. aria2's timeout is shorter here, all else as always."""
    written = aria2_unit.session_conf
    short = lambda *arguments: written(*arguments).replace("\ntimeout=30\n", "\ntimeout=1\n")  # noqa: E731
    assert "\ntimeout=1\n" in short("", 0, Settings("", 16, 4))
    monkeypatch.setattr(aria2_unit, "session_conf", short)
    bench.faults({"kind": "stall", "origin": "cdn", "after_bytes": 300_000, "count": 3})
    bench.download()
    bench.assert_same()
    assert 300_000 in [entry["bytes"] for entry in bench.pair.control.requests()["log"] if entry["origin"] == "cdn"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("config.json", "in a circle"),  # the first question
        (SHARD, "in a circle"),
        ("sub/a b%.json", "the redirects do not end"),
    ],
)
def test_a_redirect_in_a_circle_at_the_hub_ends_the_download(bench: Bench, path: str, sentence: str) -> None:
    """a9"""
    bench.faults({"kind": "redirect_loop", "origin": "hub", "match": f"*/resolve/*/{path}", "count": FOR_EVER})
    refused(bench, sentence)


@pytest.mark.parametrize("length", [1_000_000, 4_000_000])
def test_one_answer_with_a_wrong_length_among_good_ones_passes(bench: Bench, length: int) -> None:
    """a10, a11: one of the servers behind the name has another file."""
    bench.faults({"kind": "other_length", "origin": "cdn", "length": length, "count": 2})
    bench.download()
    bench.assert_same()


def test_a_complete_file_that_was_never_hashed_is_hashed_and_not_fetched(bench: Bench) -> None:
    """a14, a15, a16: no error because it exists, no second copy beside it."""
    left_behind(bench, (bench.repository / SHARD).read_bytes(), None)
    bench.pair.control.clear_requests()
    bench.download()
    bench.assert_same()
    asked = {entry["path"] for entry in bench.pair.control.requests()["log"] if entry["origin"] == "cdn"}
    assert asked == {f"/org/model/{hashlib.sha256((bench.repository / 'm-2.safetensors').read_bytes()).hexdigest()}"}


@pytest.mark.parametrize(
    ("content", "control"),
    [
        pytest.param("zeros", None, id="a20: zeros of full size, control file removed"),
        pytest.param("header", None, id="a22: right header, zeros behind it, control file removed"),
        pytest.param("zeros", "none there", id="a18: zeros of full size, control file kept"),
        pytest.param("zeros", "all there", id="a18: the control file reached the disk, the bytes did not"),
        pytest.param("zeros", b"", id="#1116: control file of no bytes after a power cut"),
        pytest.param("zeros", b"\0\1\0\0", id="#1116: control file cut off"),
        pytest.param("zeros", bytes(range(256)), id="control file of other content"),
        pytest.param("zeros", "other pieces", id="code 10: the control file is for pieces of another length"),
        pytest.param("half", None, id="a19: half a file, control file removed"),
        pytest.param("more", None, id="more than the whole file"),
        pytest.param(None, "none there", id="ComfyUI-Lora-Manager#1088: the control file alone"),
        pytest.param(None, "all there", id="ComfyUI-Lora-Manager#1088: the control file alone, saying all is there"),
    ],
)
def test_what_a_crash_leaves_ends_with_the_right_bytes(
    bench: Bench, content: str | None, control: str | bytes | None
) -> None:
    right = (bench.repository / SHARD).read_bytes()
    contents = {
        "zeros": bytes(len(right)),
        "header": zeros_behind_header(right),
        "half": right[: len(right) // 2],
        "more": right + b"x",
    }
    if isinstance(control, str):
        piece_bytes = 4 << 20 if control == "other pieces" else PIECE_BYTES
        control = control_file(len(right), control != "none there", piece_bytes)
    left_behind(bench, contents[content] if content else None, control)
    bench.download()
    bench.assert_same()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM], ids=["a18: SIGKILL", "a22: SIGTERM"])
@pytest.mark.parametrize("keep_control", [True, False], ids=["control file kept", "a20: control file removed"])
def test_an_interrupted_file_is_completed(bench: Bench, how: int, keep_control: bool) -> None:
    """Somebody who tidies up must not be able to make zeros pass for content."""
    staging = interrupted(bench, how)
    controls = list(staging.rglob("*.aria2"))
    assert controls
    if not keep_control:
        for control in controls:
            control.unlink()
    bench.download()
    bench.assert_same()


def test_an_interrupted_file_is_completed_by_an_origin_without_ranges(bench: Bench) -> None:
    """a12, a13: what was there cannot be gone on with, and is not taken for the beginning of something else."""
    interrupted(bench, signal.SIGTERM)
    bench.faults({"kind": "no_range", "origin": "cdn", "count": FOR_EVER})
    bench.download()
    bench.assert_same()


def test_aria2_outlives_an_origin_that_sends_everything_for_pieces_under_way(bench: Bench) -> None:
    """aria2's disk cache keeps pointers to pieces that such an answer frees (aria2 issues 1556 and 2384): it aborted
    within the first answers of twelve shards, each time anew, because the control files stayed as they were.
    """
    shards = {f"m-{number}.safetensors": shard(f"t{number}", 3_000_000) for number in range(12)}
    for name, content in shards.items():
        (bench.repository / name).write_bytes(content)
    index = {"metadata": {}, "weight_map": {f"t{number}": name for number, name in enumerate(shards)}}
    (bench.repository / "model.safetensors.index.json").write_text(json.dumps(index))
    for name, content in shards.items():
        control = control_file(len(content), False, under_way=range(3))
        left_behind(bench, content[: 2 * PIECE_BYTES + BLOCK_BYTES], control, name)
    bench.faults({"kind": "no_range", "origin": "cdn", "count": FOR_EVER})
    bench.download(parallel_files=12)
    bench.assert_same()


def test_a_new_commit_of_equal_size_never_mixes_bytes(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """a23: aria2 goes on in a file whose content has changed at the origin."""
    monkeypatch.setattr(aria2_unit, "HEARTBEAT_SECONDS", -1.0)  # the first run was over long ago
    staging = interrupted(bench, signal.SIGTERM)
    assert any((staging / name).stat().st_blocks for name in (SHARD, "m-2.safetensors"))
    for name, tensor in ((SHARD, "a"), ("m-2.safetensors", "b")):
        size = (bench.repository / name).stat().st_size
        new = shard(tensor, 3_000_000 if tensor == "a" else 2_000_000)
        assert len(new) == size
        (bench.repository / name).write_bytes(new)
    bench.download()
    bench.assert_same()
    assert not staging.exists()


def test_the_aria2_of_an_old_commit_ends_before_its_directory_goes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It outlives the controller on purpose, and would go on writing into what is being removed."""
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 300_000, "count": FOR_EVER})
    bench.target.mkdir()
    first = bench.plan(slice_seconds=5.0)
    with first.locked():
        assert not first.advance()
    assert bench.units.processes
    monkeypatch.setattr(aria2_unit, "HEARTBEAT_SECONDS", -1.0)  # its controller is gone for long
    bench.pair.control.clear_faults()
    (bench.repository / "config.json").write_text('{"new": 1}')
    second = bench.plan()
    open_staging = second.directory.open_staging
    alive: list[str] = []

    def note(manifest: Manifest) -> None:
        alive.extend(bench.units.processes)
        open_staging(manifest)

    monkeypatch.setattr(second.directory, "open_staging", note)
    with second.locked():
        assert second.advance()
    assert alive == []
    bench.assert_same()


def test_an_origin_that_changes_content_under_the_same_commit_is_found_out(bench: Bench) -> None:
    """a23: the first half came from a lying origin, the second from an honest one; both are thrown away."""
    right = (bench.repository / SHARD).read_bytes()
    staging = interrupted(bench, signal.SIGTERM)
    with (staging / SHARD).open("r+b") as stream:
        stream.write(right[:10] + os.urandom(16 * 1024))
    (staging / f"{SHARD}.aria2").write_bytes(control_file(len(right), True))
    bench.download()
    bench.assert_same()


def test_an_address_that_expires_in_the_middle_costs_a_new_one_and_no_bytes(bench: Bench) -> None:
    """a24, aria2#2197: connections break off, and the old address is refused to them from then on."""
    bench.faults(
        {"kind": "cut", "origin": "cdn", "after_bytes": 700_000, "count": 2},
        {"kind": "expired", "origin": "cdn", "count": 6},
    )
    bench.download()
    bench.assert_same()
    log = bench.pair.control.requests()["log"]
    assert len([entry for entry in log if entry["method"] == "HEAD"]) > 2
    asked = [(entry["path"], first_byte(entry), entry["bytes"]) for entry in log if entry["origin"] == "cdn"]
    cut = [(path, first) for path, first, sent in asked if sent == 700_000]
    assert len(cut) == 2
    for path, first in cut:
        assert (path, first + 700_000 // BLOCK_BYTES * BLOCK_BYTES) in [(path, first) for path, first, _sent in asked]


def test_an_address_that_expires_while_its_file_waits_costs_a_new_one(bench: Bench) -> None:
    """a24: by the clock of the signature. One file at a time, and each takes longer than the address of the other lives."""
    bench.settings(signature_seconds=2)
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 200_000, "count": 5})
    bench.download(parallel_files=1)
    bench.assert_same()
    log = bench.pair.control.requests()["log"]
    assert 403 in [entry["status"] for entry in log if entry["origin"] == "cdn"]


def test_sixteen_connections_ask_the_hub_once(bench: Bench) -> None:
    """a26: aria2 by itself asks the resolver again for every connection."""
    bench.download()
    log = bench.pair.control.requests()["log"]
    asked = [(entry["method"], entry["path"]) for entry in log if entry["origin"] == "hub"]
    assert len(asked) == len(set(asked))
    assert len([path for _method, path in asked if path.endswith(SHARD)]) == 1


def test_aria2_works_with_every_option_that_is_written(bench: Bench) -> None:
    """a28: it passes over what it does not know, without a word; so it is asked."""
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 400_000, "count": FOR_EVER})
    bench.target.mkdir()
    download = bench.plan(slice_seconds=5.0)
    with download.locked():
        assert not download.advance()
    assert download.unit.attach()
    aria2 = download.unit._aria2
    assert aria2
    there = aria2._call("aria2.getGlobalOption")
    (conf,) = bench.target.parent.glob("run/*/aria2.conf")
    wanted = dict(line.split("=", 1) for line in conf.read_text().splitlines())
    secret = wanted.pop("rpc-secret")
    assert secret not in json.dumps(there)
    sizes = {"64M": str(64 << 20), "1M": str(1 << 20)}
    assert {name: there.get(name) for name in wanted} == {name: sizes.get(v, v) for name, v in wanted.items()}
    for file in aria2._call("aria2.tellActive", ["gid"]):
        options = aria2._call("aria2.getOption", file["gid"])
        assert (options["split"], options["max-connection-per-server"]) == ("16", "16")
        assert options["dir"] == download.directory.staging


@pytest.mark.parametrize(
    "path", ["../esc", "/etc/esc", "a/../../esc", "esc\nout=/tmp/esc", "esc\0", "~/esc", ".partial-x/esc", "esc.aria2"]
)
def test_a_name_that_leads_elsewhere_is_refused_and_nothing_is_written(bench: Bench, path: str) -> None:
    """a29: aria2 itself writes where out= says."""
    bench.settings(extra_paths=[path])
    with pytest.raises(NameRefused) as error:
        bench.download()
    assert repr(path) in str(error.value)
    assert not bench.target.exists()
    assert not list(bench.target.parent.rglob("esc*"))


@pytest.mark.parametrize("oid", ["abc", 63 * "a", 65 * "a", 64 * "g", 64 * "A", None, 7])
def test_a_digest_that_is_none_is_refused(bench: Bench, oid: Any) -> None:
    """a30: without it nothing would be proven."""
    item = {"type": "file", "oid": 40 * "0", "size": 7, "path": "m.safetensors", "lfs": {"oid": oid, "size": 7}}
    bench.faults({"kind": "status", "status": 200, "match": "*/tree/*", "body": json.dumps([item])})
    refused(bench, "an entry without a path, a size and a digest")


def test_the_token_is_in_no_process_and_in_no_file_while_aria2_runs(bench: Bench, tmp_path: Path) -> None:
    """a25, a31, a32: not in its arguments, its environment, its files; those of the session are root's alone."""
    bench.settings(gated=True)
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 400_000, "count": FOR_EVER})
    bench.target.mkdir()
    download = bench.plan(token=TOKEN, slice_seconds=5.0)
    with download.locked():
        assert not download.advance()
    (process,) = bench.units.processes.values()
    for name in ("cmdline", "environ"):
        assert TOKEN.encode() not in Path(f"/proc/{process.pid}/{name}").read_bytes()
    for file in (path for path in tmp_path.rglob("*") if path.is_file()):
        assert TOKEN.encode() not in file.read_bytes(), file
    for path in [tmp_path / "run", *(tmp_path / "run").rglob("*"), Path(download.directory.staging)]:
        assert path.stat().st_mode & 0o077 == 0, path
    assert TOKEN not in json.dumps([download.resume, download.progress])
    assert bench.counts()["cdn_requests"] > 0
    assert bench.counts()["cdn_authorizations"] == 0


def test_a_users_own_configuration_and_netrc_are_passed_over(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """a34: with them aria2 would write elsewhere, crawl, and show a password to the CDN, which refuses it."""
    home = tmp_path / "home"
    (home / ".aria2").mkdir(parents=True)
    for conf in (home / ".aria2/aria2.conf", home / ".config/aria2/aria2.conf"):
        conf.parent.mkdir(parents=True, exist_ok=True)
        conf.write_text(f"dir={tmp_path}/elsewhere\nmax-download-limit=1K\nheader=Authorization: Bearer x\n")
    (home / ".netrc").write_text("machine 127.0.0.1 login somebody password secret\ndefault login a password b\n")
    (home / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(home))
    bench.download()
    bench.assert_same()
    assert not (tmp_path / "elsewhere").exists()
    assert bench.counts()["hub_authorizations"] == 0
    assert bench.counts()["cdn_authorizations"] == 0
