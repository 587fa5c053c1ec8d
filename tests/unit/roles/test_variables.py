# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every input of a role stands in its defaults, with a comment, and in its argument specification, alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROLES = Path(__file__).resolve().parents[3] / "roles"
NAMES = sorted(path.name for path in ROLES.iterdir() if path.is_dir())


def defaults(role: str) -> dict[str, Any]:
    return yaml.safe_load((ROLES / role / "defaults/main.yml").read_text()) or {}


def options(role: str) -> dict[str, Any]:
    specification = yaml.safe_load((ROLES / role / "meta/argument_specs.yml").read_text())
    found: dict[str, Any] = specification["argument_specs"]["main"]["options"]
    return found


def test_there_are_roles() -> None:
    assert len(NAMES) >= 4


@pytest.mark.parametrize("role", NAMES)
def test_defaults_and_specification_have_the_same_names(role: str) -> None:
    required_without_default = {
        name for name, option in options(role).items() if option.get("required") and name not in defaults(role)
    }
    assert set(defaults(role)) | required_without_default == set(options(role))


@pytest.mark.parametrize("role", NAMES)
def test_defaults_are_the_same_values(role: str) -> None:
    for name, option in options(role).items():
        value = defaults(role).get(name)
        if "default" in option and not (isinstance(value, str) and "{{" in value):
            assert option["default"] == value, name


@pytest.mark.parametrize("role", NAMES)
def test_every_input_is_named_after_its_role_and_described(role: str) -> None:
    for name, option in options(role).items():
        assert name.startswith(f"{role}_"), name
        assert option.get("description"), name


@pytest.mark.parametrize("role", NAMES)
def test_every_default_has_a_comment(role: str) -> None:
    """A comment stands above a variable, or above the group of variables that it belongs to (no blank line between)."""
    commented = False
    for line in (ROLES / role / "defaults/main.yml").read_text().splitlines():
        if line.startswith("#"):
            commented = True
        elif not line.strip():
            commented = False
        elif line.split(":")[0] in defaults(role):
            assert commented, f"{line.split(':')[0]} has no comment in defaults/main.yml"


@pytest.mark.parametrize("role", NAMES)
def test_every_input_is_in_the_readme(role: str) -> None:
    text = (ROLES / role / "README.md").read_text()
    missing = [name for name in options(role) if f"`{name}`" not in text]
    assert not missing, f"not in roles/{role}/README.md: {missing}"
