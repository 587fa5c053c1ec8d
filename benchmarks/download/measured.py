# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs on the host: time one shell command, and the most memory that one of its processes used."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

begin = time.monotonic()
done = subprocess.run(["/bin/bash", "-euo", "pipefail", "-c", sys.argv[1]], capture_output=True, text=True, check=False)
seconds = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(
    json.dumps(
        {
            "seconds": seconds,
            "memory_mib": used.ru_maxrss / 1024,
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "status": done.returncode,
            "output": (done.stdout + done.stderr)[-4000:],
        }
    )
)
