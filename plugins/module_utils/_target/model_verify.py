# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare a directory with a listing, at the depth that was asked for; changes nothing.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable, Collection, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import Manifest, ManifestFile
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.digests import kind_of
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.extras import extra_files, unfinished
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.findings import Defect, Defects
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.index import INDEX_SUFFIX
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.safetensors import SUFFIX
from ansible_collections.inferops.sglang.plugins.module_utils._target.hashing import (
    Hashed,
    Hashing,
    Order,
    hash_progress,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_records import Records
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_tree import ModelTree
from ansible_collections.inferops.sglang.plugins.module_utils._target.weights_set import WeightsSet, look_at_all

SHOWN_DEFECTS = 40
SHOWN_NAMES = 40


@dataclass(frozen=True)
class Wish:
    """*verify* is "receipts", "structure" or "full"; *manifest* is None where only the structure can be judged.

    *wanted* are the paths of it that a download was asked for; None means all.
    """

    verify: str
    manifest: Manifest | None
    wanted: Collection[str] | None
    source: str
    include: Sequence[str]
    exclude: Sequence[str]
    threads: int


@dataclass
class Verification:
    wish: Wish
    tree: ModelTree
    records: Records
    resume: dict[str, Any]
    clock: Callable[[], float] = time.monotonic
    defects: list[tuple[str, Defect]] = field(default_factory=list)
    defects_total: int = 0
    remarks: list[str] = field(default_factory=list)
    progress: str = ""

    def __post_init__(self) -> None:
        self.listed = {file.path for file in self.wish.manifest.files} if self.wish.manifest else set()
        self.expected = self._select()
        self.present = [file for file in self.expected if file.path in self.tree.files]
        self.hashed = {path: Hashed(*values) for path, values in self.resume.get("hashed", {}).items()}

    def _select(self) -> list[ManifestFile]:
        if self.wish.manifest is None:
            return []
        chosen = self.wish.manifest.select(self.wish.include, self.wish.exclude)
        return [file for file in chosen if self.wish.wanted is None or file.path in self.wish.wanted]

    def hash(self, deadline: float) -> bool:
        """Hash for one slice; whether everything is hashed. A file that changed since an earlier slice is done again."""
        for path, result in list(self.hashed.items()):
            if path not in self.tree.files or not result.covers(self.tree.files[path]):
                del self.hashed[path]
        orders = [
            Order(file.path, self.tree.place(file.path), self.tree.files[file.path].st_size, kind_of(file.digest))
            for file in self.present
            if self.tree.files[file.path].st_size == file.size
        ]
        hashing, begun = Hashing(orders, self.hashed, self.clock), self.clock()
        finished = hashing.run(deadline, self.wish.threads)
        seconds = max(self.clock() - begun, 1e-9)
        self.resume["hashed"] = {path: list(result) for path, result in self.hashed.items()}
        self.resume["hash_seconds"] = self.resume.get("hash_seconds", 0.0) + seconds
        self.resume["hash_bytes"] = self.resume.get("hash_bytes", 0) + hashing.bytes
        self.progress = hash_progress(self.hashed, orders, hashing.bytes / seconds)
        return finished

    def judge(self) -> dict[str, Any]:
        """Everything but the hashing, and the result of it all."""
        proven, by_receipt = self._compare_files()
        examined = self._compare_structure(proven) if self.wish.verify != "receipts" else 0
        extras = self._find_extras(proven)
        unproven = [file.path for file in self.present if file.path not in proven]
        manifest = self.wish.manifest
        sizes = [file.size for file in self.expected] if manifest else [it.st_size for it in self.tree.files.values()]
        hash_bytes, hash_seconds = self.resume.get("hash_bytes", 0), self.resume.get("hash_seconds", 0.0)
        return {
            "ok": self.defects_total == 0,
            "proven": bool(self.expected) and len(proven) == len(self.expected),
            "source": self.wish.source,
            "repository": manifest.repository if manifest else "",
            "commit": manifest.commit if manifest else "",
            "files": len(sizes),
            "bytes": sum(sizes),
            "hashed_files": len(proven) - by_receipt,
            "receipt_files": by_receipt,
            "examined_files": examined,
            "unproven": unproven[:SHOWN_NAMES],
            "unproven_total": len(unproven),
            "extra_files": extras[:SHOWN_NAMES],
            "defects": [defect.public(file) for file, defect in self.defects[:SHOWN_DEFECTS]],
            "defects_total": self.defects_total,
            "remarks": self.remarks[:SHOWN_NAMES],
            "remarks_total": len(self.remarks),
            "hash_bytes": hash_bytes,
            "hash_bytes_per_second": int(hash_bytes / hash_seconds) if hash_seconds else 0,
        }

    def _compare_files(self) -> tuple[set[str], int]:
        """Presence, size and digest of each listed file; which are proven, and how many of them by a receipt."""
        proven: set[str] = set()
        by_receipt = 0
        for file in self.expected:
            found = self.tree.files.get(file.path)
            if found is None:
                problem = self.tree.problems.get(file.path, "it is missing")
                self._defect(file.path, "missing", problem)
            elif found.st_size != file.size:
                self._defect(
                    file.path, "size", f"it has {found.st_size} bytes, the listing has {file.size}", byte=found.st_size
                )
            elif file.path in self.hashed:
                if self._is_right(file, self.hashed[file.path]):
                    proven.add(file.path)
            elif self.wish.verify != "full" and self.records.covers(file, found):
                proven.add(file.path)
                by_receipt += 1
        return proven, by_receipt

    def _is_right(self, file: ManifestFile, result: Hashed) -> bool:
        if result.problem:
            self._defect(file.path, "unreadable", result.problem)
        elif result.digest != file.digest:
            text = f"its content is wrong: its digest is {result.digest}, the listing has {file.digest}"
            self._defect(file.path, "digest", text)
        return not result.problem and result.digest == file.digest

    def _compare_structure(self, proven: set[str]) -> int:
        paths = [file.path for file in self.present] if self.wish.manifest else list(self.tree.files)
        absent = self.listed - {file.path for file in self.expected}
        found: WeightsSet = look_at_all(self.tree, paths, proven, absent, by_name=not self.wish.manifest)
        self.defects.extend(found.defects)
        self.defects_total += found.defects_total
        self.remarks.extend(found.warnings)
        return found.looked_at

    def _find_extras(self, proven: set[str]) -> list[dict[str, str]]:
        for path in sorted({*self.tree.files, *self.tree.problems}):
            rest = unfinished(path)
            if rest and rest.target in proven:
                self.remarks.append(f"{path}: it is left over; {rest.target} itself is right")
            elif rest:
                self._defect(path, "unfinished", rest.message)
        self.remarks.extend(
            f"{name}: a download has not finished, of this commit or another"
            for name in self.tree.unfinished_directories
        )
        self.remarks.extend(f"{path}: the hub's client has not finished a file" for path in self.records.unfinished)
        if self.wish.manifest is None:
            return []
        extras = extra_files(self.tree.files, self.listed)
        filtered = any(path.endswith(INDEX_SUFFIX) for path in self.listed)
        for extra in extras:
            if extra.path.endswith(SUFFIX) and not filtered:
                self._defect(extra.path, "extra", extra.message)
            else:
                self.remarks.append(f"{extra.path}: {extra.message}")
        return [{"file": extra.path, "kind": extra.kind} for extra in extras]

    def _defect(self, path: str, kind: str, message: str, byte: int | None = None) -> None:
        defects = Defects()
        defects.add(kind, message, byte=byte)
        self.defects.extend((path, defect) for defect in defects)
        self.defects_total += 1
