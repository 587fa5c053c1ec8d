# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signed addresses on the second origin: they expire, and a changed one is refused."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import Callable
from urllib.parse import parse_qs, urlencode


class Signer:
    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._key = secrets.token_bytes(32)
        self._clock = clock

    def query(self, path: str, lifetime_seconds: float) -> str:
        expires = str(int(self._clock() + lifetime_seconds))
        return urlencode({"Expires": expires, "Signature": self._signature(path, expires)})

    def refuses(self, path: str, query: str) -> str | None:
        """Why this request is refused, or None where the signature is good."""
        values = parse_qs(query)
        expires = values.get("Expires", [""])[0]
        signature = values.get("Signature", [""])[0]
        if not hmac.compare_digest(signature, self._signature(path, expires)):
            return "SignatureDoesNotMatch"
        if self._clock() > float(expires):
            return "Request has expired"
        return None

    def _signature(self, path: str, expires: str) -> str:
        return hmac.new(self._key, f"{path}\n{expires}".encode(), hashlib.sha256).hexdigest()
