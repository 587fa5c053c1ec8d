# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of M(inferops.sglang.venv_sync): two hosts, one stream of chunks between them."""

from __future__ import annotations

import os
import tempfile
import time
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.utils.display import Display
from ansible_collections.inferops.sglang.plugins.plugin_utils.courier import (
    PACK,
    RECEIVE,
    ChangedError,
    Courier,
    Load,
)
from ansible_collections.inferops.sglang.plugins.plugin_utils.peer import (
    BuildsAlone,
    HostError,
    HostSide,
    connect,
)
from ansible_collections.inferops.sglang.plugins.plugin_utils.progress import Progress
from ansible_collections.inferops.sglang.plugins.plugin_utils.relay import at_once

GIB = 2**30
MIB = 2**20

ARGUMENTS: dict[str, dict[str, Any]] = {
    "reference": {"type": "str", "required": True},
    "path": {"type": "path", "required": True},
    "imports": {"type": "list", "elements": "str", "default": []},
    "imports_always": {"type": "bool", "default": False},
    "imports_environment": {"type": "dict", "default": {}},
    "exclude": {"type": "list", "elements": "str", "default": []},
    "bytecode": {"type": "bool", "default": True},
    "accept_hazards": {"type": "list", "elements": "str", "default": []},
    "keep_previous": {"type": "bool", "default": True},
    "chunk_mib": {"type": "int", "default": 256},
    "compression": {"type": "str", "choices": ["auto", "zstd", "gzip", "none"], "default": "auto"},
}


def amount(done: int, total: int) -> str:
    """How much of *total* bytes is done, in a unit that suits it."""
    unit, name = (GIB, "GiB") if total >= GIB else (MIB, "MiB")
    return f"{done / unit:.1f}/{total / unit:.1f} {name}"


class ActionModule(BuildsAlone):
    """Plan on both hosts, move what is missing, stage, prove, swap."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        variables = task_vars or {}
        _validation, self._options = self.validate_argument_spec(ARGUMENTS)
        host = variables["inventory_hostname"]
        if self._options["reference"] == host:
            return {**result, "changed": False, "msg": f"{host} is the reference itself, there is nothing to do"}
        if self._options["reference"] not in variables["hostvars"]:
            raise AnsibleActionFail(
                f"reference: {self._options['reference']!r} is not a host of the inventory; name the host that has "
                f"the venv {self._options['path']}"
            )
        if self._options["chunk_mib"] < 1:
            raise AnsibleActionFail(f"chunk_mib: {self._options['chunk_mib']} is not a size, use 1 or more")

        self._recovered = False
        self._progress = Progress(Display(), host)
        reference = connect(self._options["reference"], self, variables)
        target = HostSide(host, self, variables)
        try:
            return {**result, **self._sync(reference, target)}
        except HostError as error:
            return {**result, "changed": False, "failed": True, **error.report()}
        finally:
            reference.close()
            target.close()

    def _sync(self, reference: HostSide, target: HostSide) -> dict[str, Any]:
        tree, own = at_once(lambda: self._listed(reference, write=False), lambda: self._plan(target))
        if own["identity"] == tree["identity"]:
            return self._unchanged(target, tree)
        tree = self._listed(reference)
        for side in (reference, target):
            side.prepare_bulk()
        with tempfile.TemporaryDirectory(prefix="venv-sync-") as workshop:
            manifest = os.path.join(workshop, "manifest.json.gz")
            reference.fetch(tree["manifest"], manifest)
            there = target.put(manifest, "manifest.json.gz")
            plan = self._plan(target, manifest=there, origin=tree["origin"])
            result = self._described(tree, plan)
            self._refuse(plan["hazards"])
            if self._task.check_mode:
                return result
            if plan["bytes"]:
                load = self._load(tree, plan, manifest, there)
                result["transfer_seconds"] = round(self._move(Courier(reference, target, workshop), load), 1)
            self._finish(reference, target, tree, there)
        return result

    def _listed(self, reference: HostSide, write: bool = True) -> dict[str, Any]:
        return self._sliced(reference, PACK, {"step": "manifest", "exchange": reference.exchange, "write": write})

    def _plan(self, target: HostSide, **arguments: Any) -> dict[str, Any]:
        return self._sliced(target, RECEIVE, {"step": "plan", "exchange": target.exchange, **arguments})

    def _sliced(self, side: HostSide, module: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call *module* until it has read all it has to."""
        tree = {key: self._options[key] for key in ("path", "exclude", "bytecode")}
        while True:
            answer = side.run(module, **tree, **arguments)
            if answer.get("recovered"):
                self._recovered = True
            if answer["finished"]:
                return answer
            self._progress.line(f"venv: reading {side.host}, {answer['pending_bytes'] / GIB:.1f} GiB to go")

    def _move(self, courier: Courier, load: Load) -> float:
        """Move the load with progress lines, and return the seconds it took."""
        started = time.monotonic()

        def moved(done: int) -> None:
            seconds = max(time.monotonic() - started, 0.001)
            self._progress.line(
                f"venv {amount(done, load.bytes)}  {100 * done // load.bytes} %  {done / MIB / seconds:.0f} MiB/s"
            )

        try:
            courier.move(load, moved)
        except ChangedError as error:
            raise AnsibleActionFail(
                f"{error} arrived with other bytes than {self._options['reference']} had listed: the venv changed "
                f"there while it was copied; run again when nobody installs into it"
            ) from error
        return time.monotonic() - started

    def _finish(self, reference: HostSide, target: HostSide, tree: dict[str, Any], manifest: str) -> None:
        if self._listed(reference, write=False)["identity"] != tree["identity"]:
            raise AnsibleActionFail(
                f"the venv {self._options['path']} changed on {reference.host} while it was copied, so the copy is "
                f"not put into place; run again when nobody installs into it"
            )
        self._progress.line("venv: building the new tree beside the live one, and importing from it", force=True)
        arguments = {key: self._options[key] for key in ("path", "exclude", "bytecode", "keep_previous")}
        target.run(RECEIVE, step="stage", manifest=manifest, **self._imports(), **arguments)
        target.run(RECEIVE, step="swap", manifest=manifest, **arguments)

    def _unchanged(self, target: HostSide, tree: dict[str, Any]) -> dict[str, Any]:
        if self._options["imports_always"]:
            target.run(RECEIVE, step="probe", path=self._options["path"], **self._imports())
        if self._recovered:
            Display().warning(f"venv {self._options['path']}: an earlier run was cut short, the tree is live again")
        return {**self._facts(tree), "changed": self._recovered, "added": 0, "modified": 0, "removed": 0, "bytes": 0}

    def _described(self, tree: dict[str, Any], plan: dict[str, Any]) -> dict[str, Any]:
        counts = {key: plan[key] for key in ("added", "modified", "removed", "bytes", "hazards")}
        result = {**self._facts(tree), "changed": True, **counts}
        if self._task.diff:
            result["diff"] = {"prepared": "\n".join([f"{self._options['path']}:", *plan["lines"], ""])}
        for hazard in plan["hazards"]:
            if not hazard["stops"] or hazard["id"] in self._options["accept_hazards"]:
                Display().warning(f"venv {self._options['path']}: {hazard['message']}")
        return result

    def _facts(self, tree: dict[str, Any]) -> dict[str, Any]:
        return {
            "path": self._options["path"],
            "reference": self._options["reference"],
            "fingerprint": tree["identity"],
            "files": tree["files"],
            "total_bytes": tree["bytes"],
        }

    def _refuse(self, hazards: list[dict[str, Any]]) -> None:
        stopping = [item for item in hazards if item["stops"] and item["id"] not in self._options["accept_hazards"]]
        if stopping:
            names = ", ".join(item["id"] for item in stopping)
            reasons = "; ".join(item["message"] for item in stopping)
            raise AnsibleActionFail(
                f"the venv {self._options['path']} of {self._options['reference']} would not work here: {reasons}. "
                f"Nothing was copied. To copy it all the same, list {names} in accept_hazards"
            )

    def _imports(self) -> dict[str, Any]:
        return {key: self._options[key] for key in ("imports", "imports_environment")}

    def _load(self, tree: dict[str, Any], plan: dict[str, Any], manifest_here: str, manifest_there: str) -> Load:
        compression = self._options["compression"]
        if compression == "auto":
            compression = "zstd" if tree["origin"]["zstd"] and plan["zstd"] else "gzip"
        return Load(
            self._options["path"],
            plan["contents"],
            plan["bytes"],
            manifest_here,
            manifest_there,
            compression,
            self._options["chunk_mib"] * MIB,
        )
