# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every place of a host where a token could be: prints those where it is. It comes back to front on standard input.

While aria2 runs, the secret of its session is looked for as well; its own directory is the one place for that.
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import urllib.request

RUNTIME = "/run/inferops-model-download"
ROOTS = ["/dev/shm", "/etc", "/home", "/opt", "/root", "/run", "/srv", "/tmp", "/usr/local", "/var"]
UNITS = "inferops-model-download*"
COMMANDS = {
    "the journal": ["journalctl", "--no-pager", "--output=export"],
    "properties of the units": ["systemctl", "show", "--all", UNITS],
    "files of the units": ["systemctl", "cat", UNITS],
    "the units": ["systemctl", "list-units", "--all", "--full", UNITS],
    "the processes": ["ps", "-eww", "-o", "args"],
}


def read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError:
        return b""


def places() -> dict[str, bytes]:
    found = {}
    for name in ("cmdline", "environ"):
        found.update((path, read(path)) for path in glob.glob(f"/proc/[0-9]*/{name}"))
    for root in ROOTS:
        for folder, _folders, files in os.walk(root):
            paths = [os.path.join(folder, name) for name in files]
            found.update((path, read(path)) for path in paths if os.path.isfile(path))
    for name, command in COMMANDS.items():
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        found[name] = done.stdout
    return found


def ask_aria2(session: dict, method: str, *params: object) -> bytes:
    call = {"jsonrpc": "2.0", "id": "1", "method": f"aria2.{method}", "params": [f"token:{session['secret']}", *params]}
    address = f"http://127.0.0.1:{session['port']}/jsonrpc"
    with urllib.request.urlopen(urllib.request.Request(address, json.dumps(call).encode())) as answer:
        return answer.read()


token = sys.stdin.read().strip()[::-1].encode()
if not token:
    sys.exit("nothing to look for")
everywhere = places()
secrets = []
for note in glob.glob(f"{RUNTIME}/*/session.json"):
    session = json.loads(read(note))
    secrets.append(session["secret"].encode())
    active = ask_aria2(session, "tellActive")
    everywhere["aria2: active"] = active
    everywhere["aria2: options"] = ask_aria2(session, "getGlobalOption")
    for download in json.loads(active.decode())["result"]:
        everywhere[f"aria2: {download['gid']}"] = ask_aria2(session, "getOption", download["gid"])
leaks = [f"the token: {place}" for place, content in everywhere.items() if token in content]
for secret in secrets:
    outside = [place for place, content in everywhere.items() if secret in content and not place.startswith(RUNTIME)]
    leaks += [f"the session's secret: {place}" for place in outside]
open_to_others = [path for path in glob.glob(f"{RUNTIME}/**", recursive=True) if os.stat(path).st_mode & 0o077]
leaks += [f"open to others: {path}" for path in open_to_others]
print(f"{len(everywhere)} places, {len(secrets)} sessions")
sys.exit("\n".join(leaks) or 0)
