# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of model_verify_info: call it slice by slice, and show where it stands."""

from __future__ import annotations

import functools
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.inferops.sglang.plugins.plugin_utils.progress import Progress
from ansible_collections.inferops.sglang.plugins.plugin_utils.slices import run_slices

MODULE = "inferops.sglang.model_verify_info"
display = Display()


class ActionModule(ActionBase):
    _supports_check_mode = True
    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        super().run(tmp, task_vars)
        execute = functools.partial(self._execute_module, MODULE, task_vars=task_vars)
        progress = Progress(display, (task_vars or {}).get("inventory_hostname", "host"))
        return run_slices(execute, dict(self._task.args), progress, bool(self._task.async_val))
