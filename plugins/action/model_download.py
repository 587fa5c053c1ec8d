# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of model_download: call it slice by slice, and show where it stands."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.inferops.sglang.plugins.plugin_utils.progress import Progress

MODULE = "inferops.sglang.model_download"
display = Display()


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        if self._task.async_val:
            # Nobody watches a task in the background, so it is one slice that lasts to the end.
            arguments = dict(self._task.args, slice_seconds=0)
            return self._execute_module(MODULE, module_args=arguments, task_vars=task_vars, wrap_async=True)
        progress = Progress(display, (task_vars or {}).get("inventory_hostname", "host"))
        arguments = dict(self._task.args)
        while True:
            result = self._execute_module(MODULE, module_args=arguments, task_vars=task_vars)
            if result.get("failed") or result.get("finished", True):
                return result
            progress.line(result["progress"])
            arguments["resume"] = result["resume"]
