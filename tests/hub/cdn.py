# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The second origin: it plays the CDN, knows no accounts, and trusts signatures alone."""

from __future__ import annotations

from hub.origin import Origin
from hub.signing import Signer
from hub.store import Store


class Cdn(Origin):
    origin = "cdn"
    store: Store
    signer: Signer

    def answer(self, path: str, query: str) -> None:
        if self.early_fault({}):
            return
        if "Authorization" in self.headers:
            # S3-style hosts refuse two kinds of authentication at once; it also proves where a token went.
            self.reply(400, b"Only one auth mechanism allowed", {})
            return
        refusal = self.signer.refuses(path, query)
        if self.fault is not None and self.fault.kind == "expired":
            refusal = "Request has expired"
        if refusal:
            self.reply(403, refusal.encode(), {})
            return
        blob = self.store.by_sha256(path.rpartition("/")[2])
        if blob is None:
            self.reply(404, b"NoSuchKey", {})
            return
        headers = {"Content-Type": "application/octet-stream", "ETag": f'"{blob.sha256}"'}
        self.reply_file(blob.file, blob.size, headers)
