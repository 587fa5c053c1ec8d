# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of endpoint_ready: one slice after the other, and a line of progress meanwhile."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.inferops.sglang.plugins.plugin_utils.progress import Progress

SLICE_SECONDS = 10


class ActionModule(ActionBase):
    """Calls the module until it is finished, so that no SSH session is held for an hour."""

    _supports_check_mode = True
    _supports_async = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Wait, print where the start stands, and return the last slice's result."""
        result = super().run(tmp, task_vars)
        del tmp
        variables = task_vars or {}
        show = None if self._task.no_log else Progress(Display(), variables.get("inventory_hostname", "?"))
        arguments = dict(self._task.args)
        sliced = "slice_seconds" not in arguments
        if sliced:
            arguments["slice_seconds"] = SLICE_SECONDS
        phase = ""
        while True:
            answer = self._execute_module(
                module_name="inferops.sglang.endpoint_ready", module_args=arguments, task_vars=variables
            )
            if answer.get("finished", True) or answer.get("failed") or not sliced:
                break
            if show:
                show.line(answer.get("progress", ""), force=answer.get("phase", "") != phase)
            phase = answer.get("phase", "")
            arguments["resume"] = answer["resume"]
        result.update(answer)
        if show and not answer.get("failed") and answer.get("ready"):
            show.line(f"ready  {answer.get('seconds', 0):.0f} s", force=True)
        result["msg"] = result.pop("readable", result.get("msg", ""))  # people read this; one copy is enough
        return result
