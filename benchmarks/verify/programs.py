# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What takes part: the module as a target runs it, and what a user would run instead."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

PROJECT = Path(__file__).resolve().parents[2]
MODULES = "ansible_collections.inferops.sglang.plugins.modules"
# The hub's own client in an environment of its own; it is no dependency of the project.
CLIENT = Path.home() / ".cache" / "inferops-lab" / "hf-client-2.4.0"


class Run(NamedTuple):
    seconds: float
    output: str
    memory_mib: float
    cpu_seconds: float


def timed(command: list[str], stdin: str = "", **environment: str) -> Run:
    """Wall time of a process from its start to its end, and the largest memory it had."""
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    begun = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables
    )
    assert process.stdin and process.stdout
    process.stdin.write(stdin)
    process.stdin.close()
    output = process.stdout.read()
    _pid, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command[0]} ended with {process.returncode}: {output[-2000:]}")
    assert isinstance(used, resource.struct_rusage)
    return Run(seconds, output, used.ru_maxrss / 1024, used.ru_utime + used.ru_stime)


def ours(**arguments: Any) -> tuple[Run, dict[str, Any]]:
    """The module as one slice, interpreter and imports of Ansible included.

    The collection is compiled in every run, as on a target; Ansible itself, which a target compiles too, is not.
    """
    return _module("model_verify_info", dict(arguments, slice_seconds=0))


def keep_listing(place: Path, **arguments: Any) -> Path:
    """The hub's listing in a file, as somebody keeps it for a host without network."""
    place.write_text(json.dumps(_module("model_manifest_info", arguments)[1]))
    return place


def _module(name: str, arguments: dict[str, Any]) -> tuple[Run, dict[str, Any]]:
    asked = json.dumps({"ANSIBLE_MODULE_ARGS": arguments})
    run = timed([sys.executable, "-m", f"{MODULES}.{name}"], asked, PYTHONPATH=str(PROJECT / "collections"))
    return run, json.loads(run.output)


def sha256sum(root: Path) -> Run:
    return timed(["sha256sum", *(str(file) for file in sorted(root.glob("*.safetensors")))])


def install_client() -> str | None:
    """Make the client's environment; what kept it from being made, or None."""
    if (CLIENT / "bin" / "hf").exists():
        return None
    try:
        subprocess.run([sys.executable, "-m", "venv", str(CLIENT)], check=True, capture_output=True, text=True)
        install = [str(CLIENT / "bin" / "pip"), "install", "-qq", "huggingface_hub==2.4.0"]
        subprocess.run(install, check=True, capture_output=True, text=True, timeout=600)
    except (subprocess.SubprocessError, OSError) as error:
        return f"the client could not be installed: {error}"
    return None


def client(repository: str, root: Path, endpoint: str) -> Run:
    return timed(
        [str(CLIENT / "bin" / "hf"), "cache", "verify", repository, "--local-dir", str(root)],
        HF_ENDPOINT=endpoint, HF_HUB_DISABLE_PROGRESS_BARS="1", HF_HUB_DISABLE_UPDATE_CHECK="1",
    )  # fmt: skip


def limit_bytes_per_second(cores: int) -> float:
    """What OpenSSL reaches on all cores at once, with the largest of its usual blocks."""
    run = timed(["openssl", "speed", "-evp", "sha256", "-bytes", "16384", "-seconds", "2", "-multi", str(cores)])
    match = re.search(r"^(?:evp|sha256|SHA256)\s+([0-9.]+)k", run.output, re.MULTILINE)
    if not match:
        raise RuntimeError(f"openssl speed said: {run.output[-500:]}")
    return float(match.group(1)) * 1000


def bare_headers(root: Path) -> float:
    """The least that a look at the structure has to do: read each header, parse its JSON."""
    begun = time.perf_counter()
    for file in sorted(root.glob("*.safetensors")):
        with file.open("rb") as stream:
            json.loads(stream.read(int.from_bytes(stream.read(8), "little")))
    return time.perf_counter() - begun
