# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""pytest plugin of the molecule scenarios: a verifier that collected no test has verified nothing."""

from __future__ import annotations

import pytest


def pytest_collection_finish(session: pytest.Session) -> None:
    if not session.items:
        raise pytest.UsageError(
            "This scenario collected no tests, so it would prove nothing; add tests/test_*.py to it."
        )
