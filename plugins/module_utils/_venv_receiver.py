# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of the target's half of venv_sync: what they read, what they write, in which order.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import platform
from typing import Any, Callable, Iterator

from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import (
    anatomy,
    difference,
    hazards,
    host,
    manifest,
    receipt,
    scan,
    staging,
    transfer,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv.swap import (
    half_done,
    places,
    recover,
    remove,
    swap,
)

# Room that must remain after everything has arrived, in bytes: the chunk on its way, and directories.
SPARE_BYTES = 1 << 30
EVIDENCE_LINES = 15
IMPORT = "import importlib, sys\nfor name in sys.argv[1:]:\n    importlib.import_module(name)\n"


class RefusedError(Exception):
    """A sentence that says what stands in the way, and the way out."""


class Receiver:
    """One step of a sync on the target. *module* is the AnsibleModule; the clocks count seconds and nanoseconds."""

    def __init__(self, module: Any, clock: Callable[[], float], now_ns: Callable[[], int]) -> None:
        self._module = module
        self._params = module.params
        self._clock = clock
        self._now_ns = now_ns
        self._where = places(self._params["path"])
        self._receipt_path = receipt.location(self._where.live, host.cache_directory(os.geteuid() == 0))

    def plan(self) -> dict[str, Any]:
        """Read the tree, and compare it with the reference's manifest if that has come already."""
        live, recovered = self._live_tree()
        known = receipt.load(self._receipt_path, self._now_ns)
        deadline = None if self._module.check_mode else self._clock() + self._params["slice_seconds"]
        result = self._scan(live, known, deadline)
        if known.changed and not self._module.check_mode:
            known.save(self._receipt_path, partial=not result.finished)
        if not result.finished:
            return {"finished": False, "pending_bytes": result.pending_bytes, "recovered": recovered}
        answer: dict[str, Any] = {
            "finished": True,
            "pending_bytes": 0,
            "recovered": recovered,
            "identity": manifest.identity(result.entries) if result.entries else "",
        }
        if self._params["manifest"]:
            answer.update(self._compare(result.entries))
        return answer

    def receive(self) -> dict[str, Any]:
        """Take one chunk. Bytecode that changed on its way is done without: Python writes it again."""
        os.makedirs(self._where.parts, mode=0o700, exist_ok=True)
        stream = transfer.Stream(transfer.load_contents(self._params["contents"]))
        with self._chunk() as source:
            wrong = transfer.receive(stream, self._params["offset"], self._params["length"], source, self._where.parts)
        os.unlink(self._params["chunk"])
        if wrong:
            needed = {e.content: e.path for e in self._wanted() if not manifest.is_bytecode(e.path)}
            wrong = [needed[digest] for digest in wrong if digest in needed]
        return {"wrong": wrong[: difference.DIFF_LINES]}

    def stage(self) -> dict[str, Any]:
        """Build the new tree, compare its shape with the manifest, and import from it."""
        wanted = self._wanted()
        remove(self._where.new)
        known = receipt.load(self._receipt_path, self._now_ns)
        live = self._scan(self._where.live, known, None).entries
        sources = staging.Sources(self._where.live, {entry.path: entry for entry in live}, self._where.parts)
        staging.build(self._where.new, wanted, sources)
        built = scan.shape(scan.walk(self._where.new))
        if manifest.identity(built, contents=False) != manifest.identity(wanted, contents=False):
            raise RefusedError(f"the tree built at {self._where.new} is not the reference's; run again")
        self._import_with(self._where.new)
        return {}

    def swap(self) -> dict[str, Any]:
        """Rename, tidy up, and note the digests of the tree that is live now."""
        wanted = {entry.path: entry for entry in self._wanted()}
        swap(self._where, self._params["keep_previous"])
        remove(self._where.parts)
        fresh = receipt.Receipt(self._now_ns)
        for item in scan.walk(self._where.live):
            entry = wanted.get(item.path)
            if entry and item.kind == "f" and (item.size, item.mtime_ns) == (entry.size, entry.mtime_ns):
                fresh.trust(item.path, item.key, entry.content)
        fresh.save(self._receipt_path)
        return {}

    def probe(self) -> dict[str, Any]:
        """Import from the live tree."""
        self._import_with(self._where.live)
        return {}

    def _live_tree(self) -> tuple[str, bool]:
        """The tree that is live, and whether it had to be put back after a swap that was cut short."""
        live, prev = self._where.live, self._where.prev
        if self._module.check_mode and half_done(os.path.lexists(live), os.path.isdir(prev)):
            return prev, True
        recovered = recover(self._where)
        if os.path.islink(live) or os.path.ismount(live):
            raise RefusedError("it is a link or a mount point on the target, which cannot be replaced by a rename")
        if os.path.lexists(live) and not os.path.isdir(live):
            raise RefusedError("it is not a directory on the target; move it away, or choose another path")
        if os.path.isdir(live) and os.listdir(live) and not anatomy.read(live).exists:
            raise RefusedError(
                "the directory on the target holds something else than a venv (no pyvenv.cfg); move it away"
            )
        return live, recovered

    def _scan(self, tree: str, known: receipt.Receipt, deadline: Any) -> scan.Scan:
        if not os.path.isdir(tree):
            return scan.Scan(True, [], 0, 0)
        found = scan.walk(tree, self._params["exclude"], self._params["bytecode"])
        return scan.scan(found, tree, known, self._clock, deadline)

    def _compare(self, present: list[manifest.Entry]) -> dict[str, Any]:
        if not self._module.check_mode:
            self._drop_partial()
        found = difference.compare(self._wanted(), present, transfer.received(self._where.parts))
        contents = os.path.join(self._params["exchange"], "contents.json")
        transfer.save_contents(contents, found.contents)
        host.hand_over(contents)
        self._check_space(found.bytes)
        return {
            "added": len(found.added),
            "modified": len(found.changed),
            "removed": len(found.removed),
            "bytes": found.bytes,
            "lines": difference.summary(found),
            "hazards": [hazard.public() for hazard in self._hazards()],
            "contents": contents,
            "zstd": bool(self._module.get_bin_path("zstd")),
        }

    def _hazards(self) -> list[hazards.Hazard]:
        origin = self._params["origin"]
        venv = anatomy.Anatomy(**origin["venv"])
        base = host.ask_python(self._module.run_command, venv.base_link)
        return hazards.of_move(
            venv,
            hazards.Origin(origin["version"], origin["machine"], origin["glibc"]),
            hazards.Destination(base.get("version", ""), platform.machine(), host.glibc_version()),
        )

    def _check_space(self, needed: int) -> None:
        directory = os.path.dirname(self._where.live)
        while not os.path.isdir(directory):
            directory = os.path.dirname(directory)
        free = os.statvfs(directory)
        if free.f_bavail * free.f_frsize < needed + SPARE_BYTES:
            raise RefusedError(
                f"{needed / 2**30:.1f} GiB have to travel and {SPARE_BYTES / 2**30:.0f} GiB must remain, but only "
                f"{free.f_bavail * free.f_frsize / 2**30:.1f} GiB are free below {directory}"
            )

    def _drop_partial(self) -> None:
        if os.path.isdir(self._where.parts):
            for name in os.listdir(self._where.parts):
                if name.endswith(transfer.PARTIAL):
                    os.unlink(os.path.join(self._where.parts, name))

    @contextlib.contextmanager
    def _chunk(self) -> Iterator[Any]:
        path = self._params["chunk"]
        if self._params["compression"] == "zstd":
            plain = path + ".plain"
            command = [self._module.get_bin_path("zstd", required=True), "-q", "-d", "-f", path, "-o", plain]
            self._module.run_command(command, check_rc=True)
            with open(plain, "rb") as stream:
                yield stream
            os.unlink(plain)
        elif self._params["compression"] == "gzip":
            with gzip.open(path, "rb") as stream:
                yield stream
        else:
            with open(path, "rb") as stream:
                yield stream

    def _wanted(self) -> list[manifest.Entry]:
        return manifest.load(self._params["manifest"])

    def _import_with(self, tree: str) -> None:
        names = self._params["imports"]
        if not names:
            return
        python = os.path.join(tree, "bin", "python")
        environment = {key: str(value) for key, value in self._params["imports_environment"].items()}
        status, _out, err = self._module.run_command(
            [python, "-I", "-c", IMPORT, *names], environ_update=environment, cwd="/"
        )
        if status != 0:
            lines = [line for line in err.splitlines() if line.strip()]
            cause = lines[-1] if lines else f"exit status {status}"
            self._module.fail_json(
                msg=f"venv {self._where.live}: {python} cannot import {', '.join(names)}: {cause}",
                evidence=lines[-EVIDENCE_LINES:],
            )
