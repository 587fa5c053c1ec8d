# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way the bytes take: a proxy, mirrors, certificates of one's own, a limit; the local hub and a real aria2c."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any, Callable, Iterator

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError
from ansible_collections.inferops.sglang.plugins.module_utils._target.web import ProxyRefused, proxies_of, without_proxy
from hub.__main__ import Pair
from unit.module_utils._target.download_bench import TOKEN, Bench, needs_aria2c
from unit.module_utils._target.small_proxy import SmallProxy

pytestmark = needs_aria2c
NAME = "hub.invalid"  # RFC 6761: no resolver knows it, so only the proxy can have answered


@pytest.fixture
def proxy() -> Iterator[SmallProxy]:
    proxy = SmallProxy(NAME)
    yield proxy
    proxy.shutdown()
    proxy.server_close()


@pytest.fixture
def add_mirror(bench: Bench) -> Iterator[Callable[[], Pair]]:
    """Starts another hub with the same files."""
    mirrors: list[Pair] = []

    def start() -> Pair:
        mirrors.append(Pair(bench.repository.parents[1], "127.0.0.1", 0, 0, [TOKEN]))
        mirrors[-1].start()
        return mirrors[-1]

    yield start
    for mirror in mirrors:
        mirror.stop()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate that it signed itself, in one file."""
    file = tmp_path_factory.mktemp("tls") / "hub.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"]
    subprocess.run([*command, "-keyout", file, "-out", f"{file}.crt"], check=True, capture_output=True)
    with file.open("a") as stream:
        stream.write(Path(f"{file}.crt").read_text())
    return file


@pytest.fixture
def tls(bench: Bench, certificate: Path) -> Iterator[Pair]:
    pair = Pair(bench.repository.parents[1], "localhost", 0, 0, [TOKEN], certificate=certificate)
    pair.start()
    yield pair
    pair.stop()


def counts(pair: Pair) -> dict[str, int]:
    return dict(pair.control.requests()["counts"])


def test_module_and_aria2_take_the_proxy_and_tell_it_who_they_are(bench: Bench, proxy: SmallProxy) -> None:
    endpoint = f"http://{NAME}:{bench.pair.hub.server_port}"
    bench.download(endpoint=endpoint, proxies=proxies_of(proxy.url, None))
    bench.assert_same()
    assert {program for program, _path in proxy.asked} == {"inferops.sglang", "aria2"}
    assert "proxy-password" not in str(bench.units.commands)


def test_the_password_of_a_proxy_stands_in_the_sessions_own_file_alone(bench: Bench, proxy: SmallProxy) -> None:
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 400_000, "count": -1})
    bench.target.mkdir()
    endpoint = f"http://{NAME}:{bench.pair.hub.server_port}"
    download = bench.plan(endpoint=endpoint, proxies=proxies_of(proxy.url, None), slice_seconds=2.0)
    with download.locked():
        assert not download.advance()
    (process,) = bench.units.processes.values()
    password = b"proxy-password"
    for name in ("cmdline", "environ"):
        assert password not in Path(f"/proc/{process.pid}/{name}").read_bytes()
    root = bench.target.parent
    holding = [file for file in root.rglob("*") if file.is_file() and password in file.read_bytes()]
    assert [(file.name, file.stat().st_mode & 0o777) for file in holding] == [("aria2.conf", 0o600)]
    assert password.decode() not in str([download.resume, download.progress, *download.warnings()])


def test_a_proxy_that_refuses_its_user_is_told_without_the_password(bench: Bench, proxy: SmallProxy) -> None:
    wrong = proxies_of(proxy.url.replace("proxy-password", "wrong-word"), None)
    with pytest.raises(HubError, match="407") as error:
        bench.download(endpoint=f"http://{NAME}:{bench.pair.hub.server_port}", proxies=wrong)
    assert "wrong-word" not in str(error.value)


def test_the_proxy_of_the_environment_reaches_aria2_too(
    bench: Bench, proxy: SmallProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.delenv("no_proxy", raising=False)
    bench.download(endpoint=f"http://{NAME}:{bench.pair.hub.server_port}", proxies=proxies_of(None, None))
    bench.assert_same()
    assert {program for program, _path in proxy.asked} == {"inferops.sglang", "aria2"}


@pytest.mark.parametrize("direct", ["127.0.0.1", "elsewhere.invalid, 127.0.0.1", "*"])
def test_a_host_that_needs_no_proxy_is_reached_without(bench: Bench, proxy: SmallProxy, direct: str) -> None:
    bench.download(proxies=proxies_of(proxy.url, direct))
    bench.assert_same()
    assert proxy.asked == []


@pytest.mark.parametrize("name", ["domain.invalid", ".domain.invalid"])
def test_a_domain_stands_for_what_is_below_it(bench: Bench, proxy: SmallProxy, name: str) -> None:
    """With or without a dot in front, and for aria2 as well, which reads such a list in another way."""
    bench.faults({"kind": "slow", "origin": "cdn", "bytes_per_second": 400_000, "count": -1})
    proxies = proxies_of(proxy.url, None)
    download = bench.plan(
        endpoint=f"http://{NAME}:{bench.pair.hub.server_port}",
        proxies=without_proxy(proxies, [name]),
        slice_seconds=1.0,
    )
    bench.target.mkdir()
    with download.locked():
        assert not download.advance()
    conf = next((bench.target.parent / "run").glob("*/aria2.conf")).read_text()
    assert "no-proxy=domain.invalid,.domain.invalid\n" in conf


@pytest.mark.parametrize(
    ("proxy", "no_proxy", "sentence"),
    [
        ("socks5://127.0.0.1:1080", None, "The proxy is a socks5 proxy; it has to be http://"),
        ("https://u:secret@p:1", None, "The proxy is a https proxy"),
        (
            "http://p:1",
            "10.0.0.0/8",
            "no_proxy holds '10.0.0.0/8'; it is a list of names, domains and single addresses",
        ),
    ],
)
def test_a_proxy_that_only_one_of_the_two_understands_is_refused(proxy: str, no_proxy: Any, sentence: str) -> None:
    with pytest.raises(ProxyRefused) as refused:
        proxies_of(proxy, no_proxy)
    assert sentence in str(refused.value)
    assert "secret" not in str(refused.value)


def test_files_come_from_the_first_mirror_and_only_the_hub_sees_the_token(
    bench: Bench, add_mirror: Callable[[], Pair]
) -> None:
    first, second = add_mirror(), add_mirror()
    bench.settings(lfs_min_bytes=10)  # also small files at the CDN, so that both ways are taken
    download = bench.download(mirrors=[first.url, second.url], token=TOKEN)
    bench.assert_same()
    assert counts(first)["cdn_bytes"] > 5_000_000
    assert (counts(first)["hub_authorizations"], counts(first)["cdn_authorizations"]) == (0, 0)
    assert (counts(second)["hub_requests"], bench.counts()["cdn_requests"]) == (0, 0)
    assert bench.counts()["hub_authorizations"] > 0
    assert download.warnings() == []


def test_what_a_mirror_lacks_comes_from_the_next_source(bench: Bench, add_mirror: Callable[[], Pair]) -> None:
    mirror = add_mirror()
    mirror.control.add([{"kind": "status", "status": 404, "origin": "hub", "match": "*m-2*", "count": -1}])
    download = bench.download(mirrors=[mirror.url])
    bench.assert_same()
    fetched = [entry["path"] for entry in bench.pair.control.requests()["log"] if "resolve" in entry["path"]]
    assert [path.rpartition("/")[2] for path in fetched] == ["m-2.safetensors"]
    assert download.warnings() == []


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_a_mirror_that_fails_is_out_and_the_warning_says_why(
    bench: Bench, add_mirror: Callable[[], Pair], method: str
) -> None:
    mirror = add_mirror()
    mirror.control.add([{"kind": "status", "status": 503, "method": method, "count": -1}])
    download = bench.download(mirrors=[mirror.url])
    bench.assert_same()
    if method == "HEAD":
        assert [f"A mirror is out: {mirror.url}" in warning for warning in download.warnings()] == [True]
    assert counts(mirror)["cdn_bytes"] < 100_000


def test_a_mirror_that_is_not_there_is_asked_once(bench: Bench, add_mirror: Callable[[], Pair]) -> None:
    mirror = add_mirror()
    mirror.stop()
    download = bench.download(mirrors=[mirror.url])
    bench.assert_same()
    assert [mirror.url in warning for warning in download.warnings()] == [True]
    assert download.resume["mirrors_out"]


def test_a_mirror_with_other_bytes_does_no_harm(bench: Bench, add_mirror: Callable[[], Pair]) -> None:
    mirror = add_mirror()
    mirror.control.add([{"kind": "corrupt", "origin": "cdn", "count": -1}])
    download = bench.download(mirrors=[mirror.url])
    bench.assert_same()
    assert any("sent other content for 'm-" in warning for warning in download.warnings())


def test_own_certificates_serve_the_module_and_aria2(bench: Bench, tls: Pair, certificate: Path) -> None:
    with pytest.raises(HubError, match="certificate verify failed"):
        bench.plan(endpoint=tls.url).check_access()
    bench.download(endpoint=tls.url, ca_path=f"{certificate}.crt")
    bench.assert_same()
    assert counts(tls)["cdn_requests"] > 2


def test_certificates_are_not_checked_where_that_is_said(bench: Bench, tls: Pair) -> None:
    bench.download(endpoint=tls.url, validate_certs=False)
    bench.assert_same()


def test_a_limit_holds_and_a_running_transfer_is_told_of_another(bench: Bench) -> None:
    shards = {"include": ["*.safetensors"]}  # what aria2 fetches; test_fetch_budget.py is about the rest
    slow = bench.plan(bytes_per_second=200_000, slice_seconds=1.5, **shards)
    bench.target.mkdir()
    with slow.locked():
        assert not slow.advance()
    # Sockets hold more than aria2 has taken, so it is aria2's word that counts.
    assert int(re.search(r"(\d+) %", slow.progress)[1]) < 50  # type: ignore[index]
    fast = bench.plan(resume=slow.resume, **shards)
    with fast.locked():
        assert fast.advance()
    assert bench.finished() == ["m-1.safetensors", "m-2.safetensors"]
    assert len([command for command in bench.units.commands if command[0] == "systemd-run"]) == 1


def test_another_proxy_ends_the_session_and_the_next_one_goes_on(bench: Bench) -> None:
    first = bench.plan(bytes_per_second=400_000, slice_seconds=2.0)
    bench.target.mkdir()
    with first.locked():
        assert not first.advance()
    bench.download(resume=first.resume, proxies={"http": "http://127.0.0.1:9", "no": "127.0.0.1"})
    bench.assert_same()
    assert len([command for command in bench.units.commands if command[0] == "systemd-run"]) == 2
