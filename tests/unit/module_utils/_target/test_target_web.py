# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When the certificates that a connection trusts are read, and that nothing is trusted without them."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any, Iterator

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._target import web
from hub.__main__ import Pair
from unit.module_utils._target.made_models import write_model


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    write_model(tmp_path / "org" / "made")
    pair = Pair(tmp_path, "127.0.0.1", 0, 0, [])
    pair.start()
    yield f"{pair.url}/api/models/org/made/revision/main"
    pair.stop()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """The files of certificates that were asked for; None means the system's."""
    asked: list[str | None] = []
    create = ssl.create_default_context

    def note(cafile: str | None = None) -> ssl.SSLContext:
        asked.append(cafile)
        return create(cafile=cafile)

    monkeypatch.setattr(web.ssl, "create_default_context", note)
    return asked


def test_a_mirror_without_tls_costs_no_certificates(address: str, read: list[str | None]) -> None:
    asking = web.Web(validate_certs=True, ca_path=None, proxies={})
    assert (asking("GET", address, {}).status, read) == (200, [])


def test_certificates_are_read_once_for_all_requests_with_tls(address: str, read: list[str | None]) -> None:
    asking = web.Web(validate_certs=True, ca_path=None, proxies={})
    for url in (address.replace("http:", "HTTPS:"), address.replace("http:", "https:")):
        with pytest.raises(OSError, match=r"(?i)ssl"):  # the hub speaks no TLS
            asking("GET", url, {})
    assert read == [None]


def test_a_file_of_certificates_that_is_none_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("none")
    for name in ("ca.pem", "missing.pem"):
        with pytest.raises(OSError):
            web.Web(validate_certs=True, ca_path=str(tmp_path / name), proxies={})


@pytest.mark.parametrize(("validate", "mode"), [(True, ssl.CERT_REQUIRED), (False, ssl.CERT_NONE)])
def test_only_a_wish_turns_the_check_off(validate: bool, mode: Any) -> None:
    asking = web.Web(validate_certs=validate, ca_path=None, proxies={})
    trusted = asking._trust()
    assert (trusted.verify_mode, trusted.check_hostname) == (mode, validate)
