# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on the host: compare files with a list of digests on two threads, as a careful user would after aria2c."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor


def sha256(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for chunk in iter(lambda: stream.read(4 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()


def main() -> int:
    directory, listing = sys.argv[1:]
    with open(listing, encoding="utf-8") as stream:
        wanted = json.load(stream)
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(sha256, [os.path.join(directory, name) for name in wanted])
        wrong = [name for name, digest in zip(wanted, found) if digest != wanted[name]]
    print(f"{len(wanted) - len(wrong)} right, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
