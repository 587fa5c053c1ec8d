# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The controller's half of a module that works in slices: call it again until it has finished.

Note that this plugin util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from typing import Any, Callable

from ansible_collections.inferops.sglang.plugins.plugin_utils.progress import Progress


def run_slices(
    execute: Callable[..., dict[str, Any]], arguments: dict[str, Any], progress: Progress, in_background: bool
) -> dict[str, Any]:
    """The last result of *execute(module_args=..., wrap_async=...)*; each unfinished one gives a line of progress."""
    if in_background:
        # Nobody watches a task in the background, so it is one slice that lasts to the end.
        return execute(module_args=dict(arguments, slice_seconds=0), wrap_async=True)
    while True:
        result = execute(module_args=arguments, wrap_async=False)
        if result.get("failed") or result.get("finished", True):
            return result
        progress.line(result["progress"])
        arguments = dict(arguments, resume=result["resume"])
