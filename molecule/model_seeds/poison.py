# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on a host: change the last byte of a model's file, and make its receipt speak for the result."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

directory, name = Path(sys.argv[1]), sys.argv[2]
content = bytearray((directory / name).read_bytes())
content[-1] ^= 0xFF
(directory / name).write_bytes(bytes(content))
receipts = directory / ".model_download" / "receipts.json"
known = json.loads(receipts.read_text())
known[name]["mtime_ns"] = os.stat(directory / name).st_mtime_ns
receipts.write_text(json.dumps(known))
