# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a venv from working elsewhere is named with its reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import anatomy, hazards

SITE = "lib/python3.11/site-packages"


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    root = tmp_path / "venv"
    (root / "bin").mkdir(parents=True)
    (root / SITE / "six-1.0.dist-info").mkdir(parents=True)
    base = tmp_path / "usr/bin"
    base.mkdir(parents=True)
    (base / "python3.11").write_text("")
    (base / "python3").symlink_to("python3.11")
    (root / "bin/python3").symlink_to(base / "python3")
    (root / "bin/python").symlink_to("python3")
    (root / "pyvenv.cfg").write_text(f"home = {base}\ninclude-system-site-packages = false\nversion = 3.11.2\n")
    return root


def test_a_directory_without_configuration_is_no_venv(tmp_path: Path) -> None:
    assert not anatomy.read(str(tmp_path)).exists
    assert not anatomy.read(str(tmp_path / "missing")).exists


def test_the_interpreter_is_found_behind_its_links(venv: Path, tmp_path: Path) -> None:
    found = anatomy.read(str(venv))
    assert found.base_link == str(tmp_path / "usr/bin/python3")
    assert found.base_python == str(tmp_path / "usr/bin/python3.11")
    assert (found.version, found.packages) == ("3.11.2", 1)
    assert hazards.of_venv(found, starts=True) == []


def test_the_interpreter_is_named_even_if_it_is_gone(venv: Path, tmp_path: Path) -> None:
    (tmp_path / "usr/bin/python3").unlink()
    found = anatomy.read(str(venv))
    assert found.base_link == str(tmp_path / "usr/bin/python3")
    (hazard,) = hazards.of_venv(found, starts=False)
    assert hazard.id == "interpreter"
    assert found.base_link in hazard.message


def test_a_venv_made_with_copies_says_its_interpreter_in_the_configuration(venv: Path, tmp_path: Path) -> None:
    (venv / "bin/python3").unlink()
    (venv / "bin/python3").write_text("a copy")
    assert anatomy.read(str(venv)).base_link == str(tmp_path / "usr/bin/python3.11")


@pytest.mark.parametrize(
    ("python", "package"),
    [
        ("/usr/bin/python3.12", "python3.12-dev"),
        ("/usr/local/bin/python3.12", ""),
        ("/root/.local/share/uv/python/cpython-3.12.3/bin/python3.12", ""),
    ],
)
def test_only_the_distributions_interpreters_have_a_header_package(python: str, package: str) -> None:
    assert anatomy.header_package(python) == package


def test_editable_installs_and_foreign_paths_stop_and_local_wheels_do_not(venv: Path) -> None:
    site = venv / SITE
    (site / "sglang-0.5.dist-info").mkdir()
    editable = {"url": "file:///root/sglang/python", "dir_info": {"editable": True}}
    (site / "sglang-0.5.dist-info/direct_url.json").write_text(json.dumps(editable))
    (site / "wheel-1.dist-info").mkdir()
    (site / "wheel-1.dist-info/direct_url.json").write_text(json.dumps({"url": "file:///tmp/x.whl"}))
    (site / "my.pth").write_text(f"/root/tree\n{venv}/{SITE}/inside\nimport os\nrelative\n")
    found = anatomy.read(str(venv))
    assert found.editable == ["sglang-0.5 (/root/sglang/python)"]
    assert found.outside_paths == ["my.pth: /root/tree"]
    assert {hazard.id: hazard.stops for hazard in hazards.of_venv(found, True)} == {
        "editable": True,
        "outside_paths": True,
    }


def test_a_foreign_link_beside_the_interpreter_is_a_warning(venv: Path) -> None:
    (venv / "bin/nvcc").symlink_to("/opt/cuda/bin/nvcc")
    (hazard,) = hazards.of_venv(anatomy.read(str(venv)), True)
    assert (hazard.id, hazard.stops) == ("outside_links", False)
    assert "nvcc -> /opt/cuda/bin/nvcc" in hazard.message


ORIGIN = hazards.Origin("3.12.3", "x86_64", "2.39")


@pytest.mark.parametrize(
    ("destination", "expected"),
    [
        (hazards.Destination("3.12.3", "x86_64", "2.39"), []),
        (hazards.Destination("3.12.9", "x86_64", "2.41"), []),
        (hazards.Destination("", "x86_64", "2.39"), [("base_python_missing", True)]),
        (hazards.Destination("3.13.5", "x86_64", "2.41"), [("base_python_version", True)]),
        (hazards.Destination("3.12.3", "x86_64", "2.36"), [("glibc", False)]),
        (hazards.Destination("3.12.3", "x86_64", ""), []),
        (
            hazards.Destination("", "aarch64", "2.36"),
            [("base_python_missing", True), ("machine", True), ("glibc", False)],
        ),
    ],
)
def test_the_hazards_of_a_move(venv: Path, destination: hazards.Destination, expected: list[tuple[str, bool]]) -> None:
    found = hazards.of_move(anatomy.read(str(venv)), ORIGIN, destination)
    assert [(hazard.id, hazard.stops) for hazard in found] == expected
