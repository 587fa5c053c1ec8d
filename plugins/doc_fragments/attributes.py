# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """What each attribute means; a module says how far it supports it."""

    DOCUMENTATION = r"""
attributes:
  check_mode:
    description: Can run in check mode and say what would change without touching anything.
  diff_mode:
    description: Shows what was changed, or would be changed in check mode.
  idempotent:
    description: A second run with the same options reports no change.
  platform:
    description: The target operating systems.
"""

    ACTION = r"""
attributes:
  action:
    description: Has a part that runs on the controller.
  async:
    description: Can be run with the C(async) keyword.
"""

    INFO_MODULE = r"""
attributes:
  check_mode:
    description: Can run in check mode and say what would change without touching anything.
    support: full
    details: The module only reads.
  diff_mode:
    description: Shows what was changed, or would be changed in check mode.
    support: N/A
    details: Nothing changes.
  idempotent:
    description: A second run with the same options reports no change.
    support: full
    details: The module never reports a change.
  platform:
    description: The target operating systems.
    support: full
    platforms: linux
"""
