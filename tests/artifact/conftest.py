# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests here look at a built and installed collection, not at the checkout."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--installed", type=Path, required=True, help="directory of the installed collection")


@pytest.fixture
def installed(request: pytest.FixtureRequest) -> Path:
    path: Path = request.config.getoption("--installed")
    return path
