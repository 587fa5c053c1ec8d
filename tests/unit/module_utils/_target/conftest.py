# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What several tests of downloads begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator

import pytest
from unit.module_utils._target.download_bench import Bench, open_bench


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with open_bench(tmp_path, monkeypatch) as bench:
        yield bench
