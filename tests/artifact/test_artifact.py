# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in the tarball, what is not, and that it works without the checkout around it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() or path.is_symlink()}


def test_every_public_file_is_shipped(installed: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=PROJECT, text=True, capture_output=True, check=True
    ).stdout.split()
    public = {name for name in tracked if name.split("/")[0] in ("plugins", "roles", "playbooks", "meta", "docs")}
    missing = public - files(installed)
    assert not missing, f"tracked, but not in the tarball (see the manifest in galaxy.yml): {sorted(missing)}"


def test_nothing_else_is_shipped(installed: Path) -> None:
    top = {name.split("/")[0] for name in files(installed)}
    assert top <= {
        "CHANGELOG.md", "CONTRIBUTING.md", "FILES.json", "LICENSE", "MANIFEST.json", "README.md",
        "changelogs", "docs", "meta", "playbooks", "plugins", "roles",
    }  # fmt: skip
    assert not [path for path in installed.rglob("*") if path.is_symlink()]
    assert not [name for name in files(installed) if name.endswith((".pyc", ".tar.gz"))]


@pytest.mark.parametrize("name", ["site", "toolchain", "venv", "model", "service", "diagnose"])
def test_playbooks_resolve_by_full_name_from_anywhere(installed: Path, name: str, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    environment["ANSIBLE_COLLECTIONS_PATH"] = str(installed.parents[2])
    done = subprocess.run(
        ["ansible-playbook", "-i", "localhost,", "--syntax-check", f"inferops.sglang.{name}"],
        cwd=tmp_path, text=True, capture_output=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_every_plugin_has_documentation_that_ansible_doc_can_show(installed: Path, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    environment["ANSIBLE_COLLECTIONS_PATH"] = str(installed.parents[2])
    modules = sorted(path.stem for path in (installed / "plugins" / "modules").glob("*.py"))
    assert modules
    done = subprocess.run(
        ["ansible-doc", "-t", "module", *(f"inferops.sglang.{name}" for name in modules)],
        cwd=tmp_path, text=True, capture_output=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "inferops.sglang.sglang_config" in done.stdout


def test_the_checkout_works_from_any_directory_without_its_configuration(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ANSIBLE_")}
    done = subprocess.run(
        ["ansible-playbook", "-i", str(PROJECT / "inventories/example"), "--syntax-check", str(PROJECT / "site.yml")],
        cwd=tmp_path, text=True, capture_output=True, check=False, env=environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
