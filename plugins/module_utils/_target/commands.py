# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the read-only modules start the commands that they ask.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from typing import Any, BinaryIO, Callable

Consume = Callable[[BinaryIO], None]


def runner(module: Any) -> Callable[..., Any]:
    """A function of argv that gives (rc, stdout, stderr), in UTC and the C locale.

    With `consume` the output goes to it while the command runs, and stdout comes back empty: a journal can be longer than
    the memory. It has to read to the end.
    """

    def run(argv: list, consume: Consume | None = None) -> Any:
        return module.run_command(
            argv,
            environ_update={"LC_ALL": "C.UTF-8", "TZ": "UTC", "SYSTEMD_COLORS": "0"},
            errors="surrogate_then_replace",
            before_communicate_callback=(lambda process: consume(process.stdout)) if consume else None,
        )

    return run
