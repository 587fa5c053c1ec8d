# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of endpoint_ready: slices, a line of progress meanwhile, and a look from where clients are."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.inferops.sglang.plugins.plugin_utils import client_look
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
        if arguments.get("client_url") and client_look.requests is None:
            return dict(result, failed=True, ready=False, finished=True, msg=client_look.MISSING)
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
        # A node of rank 1 or higher serves no clients, and gives no answer.
        if result.get("ready") and not result.get("failed") and arguments.get("client_url") and "answer" in result:
            self._look_as_a_client(result, arguments)
        return result

    def _look_as_a_client(self, result: dict[str, Any], arguments: dict[str, Any]) -> None:
        """Add what the controller finds at `client_url`; a service that no client reaches is a failure."""
        service = client_look.Service(
            unit=arguments["unit"],
            listening=result.get("listening", []),
            model=arguments.get("model") or "",
            prompt=arguments.get("prompt") or "Say OK.",
        )
        client = client_look.Client(
            url=arguments["client_url"],
            api_key=arguments.get("api_key") or "",
            key_is_elsewhere=bool(arguments.get("api_key_file")),
            validate_certs=boolean(arguments.get("client_validate_certs", True)),
            deadline_seconds=float(arguments.get("request_timeout_seconds") or 120),
        )
        result["client"] = client_look.look(service, client)
        if result["client"]["reachable"]:
            result["msg"] += f" Reached at {client.url} from the controller."
        else:
            result.update(failed=True, msg=result["client"]["problem"])
