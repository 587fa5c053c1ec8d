# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The target's tree is the reference's tree, byte for byte, and works."""

from __future__ import annotations

from typing import Any

import pytest
import testinfra

testinfra_hosts = ["ansible://b300-01", "ansible://b300-02"]

REFERENCE = {"b300-01": "ct200-01", "b300-02": "ct200-02"}
DIGESTS = "cd /opt/sglang/venv && find . -type f ! -path '*/__pycache__/*' -exec sha256sum {} + | sort -k2"
LINKS = "cd /opt/sglang/venv && find . -type l -printf '%p -> %l\\n' | sort"


@pytest.fixture
def reference(host: Any) -> Any:
    name = REFERENCE[host.backend.host]
    return testinfra.get_host(f"ansible://{name}", ansible_inventory=host.backend.ansible_inventory)


def test_every_file_and_link_is_the_references(host: Any, reference: Any) -> None:
    assert host.check_output(DIGESTS) == reference.check_output(DIGESTS)
    assert host.check_output(LINKS) == reference.check_output(LINKS)


def test_it_imports(host: Any) -> None:
    command = "/opt/sglang/venv/bin/python -c 'import sglang.launch_server, importlib.metadata as m; print(m.version(\"sglang\"))'"
    assert host.check_output(command) == "0.5.23"


def test_the_tree_before_is_kept_and_nothing_else_is_left(host: Any) -> None:
    names = sorted(host.check_output("ls -A /opt/sglang").split())
    assert names == ["venv", "venv.prev"]
    assert host.check_output("find /tmp /var/tmp /root/.ansible/tmp -name '*venv*' 2>/dev/null || true") == ""
