# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd and the host say about the unit itself.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    SECONDARY,
    Remedy,
    Signature,
)

SIGNATURES = (
    Signature(
        id="program-missing",
        title="The program in ExecStart cannot be run",
        line=r"Failed at step EXEC spawning (?P<path>[^:]+)|status=203/EXEC|Failed to locate executable (?P<p2>[^:]+)",
        cause="systemd could not execute it: the venv is missing, its interpreter link is broken, or the service's user may "
        "not enter a directory above it.",
        remedies=(Remedy("host", "the venv at the unit's path, readable by the service's user"),),
    ),
    Signature(
        id="working-directory-missing",
        title="The unit's working directory does not exist",
        line=r"Failed at step CHDIR|status=200/CHDIR",
        cause="WorkingDirectory names a directory that does not exist or that the user may not enter.",
        remedies=(Remedy("host", "create it, or correct WorkingDirectory"),),
    ),
    Signature(
        id="user-missing",
        title="The service's user or group does not exist",
        line=r"Failed at step (?:USER|GROUP)|status=21[67]/(?:USER|GROUP)|Failed to determine user credentials",
        cause="User= or Group= of the unit names nobody on this host.",
        remedies=(Remedy("host", "create the user (sglang_service does)"),),
    ),
    Signature(
        id="environment-file-missing",
        title="The unit's environment file is missing",
        line=r"Failed to load environment files",
        cause="EnvironmentFile names a file that does not exist.",
        remedies=(Remedy("host", "create the file, or correct EnvironmentFile"),),
    ),
    Signature(
        id="start-timeout",
        title="systemd lost patience",
        line=r"start operation timed out|Start operation timed out",
        cause="The unit's TimeoutStartSec was over before it was up.",
        remedies=(Remedy("host", "Type=exec, or a longer TimeoutStartSec"),),
    ),
    Signature(
        id="start-limit",
        title="systemd gave up restarting it",
        line=r"Start request repeated too quickly",
        cause="It failed several times in a row; the cause is in its earlier invocations.",
        remedies=(Remedy("host", "systemctl reset-failed, after the cause is gone"),),
        strength=SECONDARY,
    ),
)
