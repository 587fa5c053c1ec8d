# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd and the host say about the unit itself. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    SECONDARY,
    WEAK,
    Remedy,
    Signature,
)

SIGNATURES = (
    Signature(
        id="program-missing",
        title="The program in ExecStart cannot be run",
        line=r"Failed at step EXEC spawning|status=203/EXEC|(?:Failed|Unable) to locate executable",
        cause="systemd could not execute it: the venv is missing, its interpreter link is broken, or the service's user may "
        "not enter a directory above it.",
        remedies=(Remedy("host", "the venv at the unit's path, readable by the service's user"),),
        reference="systemd.exec(5), Process Exit Codes",
    ),
    Signature(
        id="interpreter-missing",
        title="The program's interpreter is missing",
        line=r"bad interpreter: No such file|: cannot execute: required file not found",
        cause="The first line of the script in ExecStart names a Python that is not there: the venv was copied from another "
        "path, or its base interpreter was removed.",
        remedies=(
            Remedy("host", "the venv's own bin/python -m sglang.launch_server in ExecStart"),
            Remedy("packages", "copy the venv again with its paths corrected (venv_sync does)"),
        ),
        reference="execve(2), ENOENT",
    ),
    Signature(
        id="interpreter-library-missing",
        title="The program cannot be loaded: {library} is missing",
        line=r"error while loading shared libraries: (?P<library>[^:\s]+): cannot open",
        cause="The program, or the base interpreter of its venv, needs {library}, which is not on this host.",
        remedies=(
            Remedy("packages", "the base interpreter that the venv was made with (libpython: its shared library)"),
            Remedy("environment", "LD_LIBRARY_PATH with the directory that holds {library}, where it is installed"),
        ),
        reference="ld.so(8)",
    ),
    Signature(
        id="working-directory-missing",
        title="The unit's working directory does not exist",
        line=r"Failed at step CHDIR|status=200/CHDIR",
        cause="WorkingDirectory names a directory that does not exist or that the user may not enter.",
        remedies=(Remedy("host", "create it, or correct WorkingDirectory"),),
        reference="systemd.exec(5), Process Exit Codes",
    ),
    Signature(
        id="user-missing",
        title="The service's user or group does not exist",
        line=r"Failed at step (?:USER|GROUP)|status=21[67]/(?:USER|GROUP)|Failed to determine user credentials",
        cause="User= or Group= of the unit names nobody on this host.",
        remedies=(Remedy("host", "create the user (sglang_service does)"),),
        reference="systemd.exec(5), Process Exit Codes",
    ),
    Signature(
        id="environment-file-missing",
        title="The unit's environment file is missing",
        line=r"Failed to load environment files",
        cause="EnvironmentFile names a file that does not exist.",
        remedies=(Remedy("host", "create the file, or correct EnvironmentFile"),),
        reference="systemd.exec(5), EnvironmentFile=",
    ),
    Signature(
        id="unit-sandbox",
        title="The unit's own settings cannot be applied ({step})",
        line=r"Failed at step (?P<step>[A-Z_]+) spawning|status=(?:209/STDOUT|226/NAMESPACE|243/CREDENTIALS)",
        cause="systemd could not set up what the unit asks for (a path of its sandbox, a credential, a log file) before it "
        "ran the program; the line above it names the path.",
        remedies=(Remedy("host", "create that path, or correct the unit"),),
        reference="systemd.exec(5), Process Exit Codes",
    ),
    Signature(
        id="pre-start-failed",
        title="ExecStartPre failed",
        line=r"Control process exited, code=(?:exited|killed|dumped), status=(?P<status>\S+)",
        cause="A command before the program's start ended with {status}; its own lines say why.",
        remedies=(Remedy("manual", "run the unit's ExecStartPre= command by hand, as its user"),),
        strength=WEAK,
        reference="systemd.service(5), ExecStartPre=",
    ),
    Signature(
        id="systemd-watchdog",
        title="systemd's watchdog ended it",
        line=r"Watchdog timeout \(limit (?P<limit>[^)]+)\)!",
        cause="The unit has WatchdogSec=, and SGLang never tells systemd that it is alive.",
        remedies=(Remedy("host", "no WatchdogSec= in the unit; Type=exec"),),
        reference="systemd.service(5), WatchdogSec=",
    ),
    Signature(
        id="start-timeout",
        title="systemd lost patience",
        line=r"start operation timed out|Start operation timed out",
        cause="The unit's TimeoutStartSec was over before it was up.",
        remedies=(Remedy("host", "Type=exec, or a longer TimeoutStartSec"),),
        reference="systemd.service(5), TimeoutStartSec=",
    ),
    Signature(
        id="start-limit",
        title="systemd gave up restarting it",
        line=r"Start request repeated too quickly",
        cause="It failed several times in a row; the cause is in its earlier invocations.",
        remedies=(Remedy("host", "systemctl reset-failed, after the cause is gone"),),
        strength=SECONDARY,
        reference="systemd.unit(5), StartLimitBurst=",
    ),
)
