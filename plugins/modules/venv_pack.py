# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: venv_pack
short_description: List and pack a virtual environment on the host it comes from
version_added: "0.1.0"
description:
  - The sending half of M(inferops.sglang.venv_sync), whose action plugin runs it on the reference host.
    There is hardly a reason to call it from a playbook.
  - Reads the tree only. Digests are kept in a receipt below C(/var/cache/inferops), so that a file which has not
    changed is not read twice; the tree itself may be a read-only mount.
author: The inferops.sglang maintainers (@inferops)
options:
  path:
    description: The directory of the virtual environment.
    type: path
    required: true
  step:
    description:
      - V(manifest) lists the tree with the digest of every file. It works for O(slice_seconds) at most, and
        is called again until RV(finished).
      - V(chunk) writes one chunk of the contents that the other side lacks.
    type: str
    choices: [manifest, chunk]
    default: manifest
  exchange:
    description: A directory of this host's connection user, for what travels.
    type: path
    required: true
  exclude:
    description: Shell patterns of names or relative paths that do not belong to the tree.
    type: list
    elements: str
    default: []
  bytecode:
    description: Whether C(__pycache__) belongs to the tree.
    type: bool
    default: true
  slice_seconds:
    description: How long one call of V(manifest) may read. In check mode it reads to the end.
    type: int
    default: 10
  write:
    description: Whether V(manifest) writes the manifest, or only returns the identity of the tree.
    type: bool
    default: true
  files:
    description: The list of contents that travel and the files that hold them, for V(chunk).
    type: path
  offset:
    description: Where the chunk begins in the stream of contents, in bytes.
    type: int
    default: 0
  length:
    description: The length of the chunk in bytes, before compression.
    type: int
    default: 0
  compression:
    description: How the chunk is compressed.
    type: str
    choices: [zstd, gzip, none]
    default: gzip
extends_documentation_fragment:
  - inferops.sglang.attributes
attributes:
  check_mode:
    support: full
    details: In check mode no receipt is written.
  diff_mode:
    support: N/A
    details: Nothing of the tree changes.
  idempotent:
    support: full
    details: The module never reports a change.
  platform:
    support: full
    platforms: linux
seealso:
  - module: inferops.sglang.venv_sync
  - module: inferops.sglang.venv_receive
"""

EXAMPLES = r"""
- name: List the venv of the reference
  inferops.sglang.venv_pack:
    path: /root/venv_sglang211
    exchange: /root/exchange
"""

RETURN = r"""
finished:
  description: Whether the manifest is complete.
  type: bool
  returned: for V(manifest)
pending_bytes:
  description: How much is still to be read.
  type: int
  returned: for V(manifest)
identity:
  description: The digest that two equal trees share.
  type: str
  returned: for V(manifest), when finished
files:
  description: How many files the tree has.
  type: int
  returned: for V(manifest), when finished
bytes:
  description: The size of all of them.
  type: int
  returned: for V(manifest), when finished
manifest:
  description: The manifest, a file in O(exchange).
  type: str
  returned: for V(manifest), when finished; the file exists with O(write)
origin:
  description: What the virtual environment and this host are made of, for the hazards of the move.
  type: dict
  returned: for V(manifest), when finished
chunk:
  description: The chunk, a file in O(exchange).
  type: str
  returned: for V(chunk)
"""

import gzip
import os
import platform
import time
from typing import IO, Any, cast

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import (
    anatomy,
    host,
    manifest,
    receipt,
    scan,
    transfer,
)


def list_tree(module: AnsibleModule) -> dict[str, Any]:
    path = module.params["path"]
    venv = anatomy.read(path)
    if not venv.exists:
        module.fail_json(msg=f"there is no venv at {path} on the reference: no pyvenv.cfg in it")
    answer = host.ask_python(module.run_command, venv.python)
    if not answer:
        module.fail_json(msg=f"{venv.python} does not start on the reference, so there is nothing worth copying")

    location = receipt.location(path, host.cache_directory(os.geteuid() == 0))
    known = receipt.load(location, time.time_ns)
    deadline = None if module.check_mode else time.monotonic() + module.params["slice_seconds"]
    found = scan.walk(path, module.params["exclude"], module.params["bytecode"])
    result = scan.scan(found, path, known, time.monotonic, deadline)
    if known.changed and not module.check_mode:
        known.save(location, partial=not result.finished)
    if not result.finished:
        return {"finished": False, "pending_bytes": result.pending_bytes}

    target = os.path.join(module.params["exchange"], "manifest.json.gz")
    if module.params["write"]:
        manifest.save(target, result.entries)
        host.hand_over(target)
    return {
        "finished": True,
        "pending_bytes": 0,
        "identity": manifest.identity(result.entries),
        "files": manifest.file_count(result.entries),
        "bytes": manifest.total_bytes(result.entries),
        "manifest": target,
        "origin": {
            "venv": venv._asdict(),
            "version": answer["version"],
            "machine": platform.machine(),
            "glibc": host.glibc_version(),
            "zstd": bool(module.get_bin_path("zstd")),
        },
    }


def pack_chunk(module: AnsibleModule) -> dict[str, Any]:
    for name in os.listdir(module.params["exchange"]):  # the one before, which has been fetched
        if name.startswith("chunk-"):
            os.unlink(os.path.join(module.params["exchange"], name))
    contents, files = transfer.load_files(module.params["files"], module.params["path"])
    stream = transfer.Stream(contents)
    target = os.path.join(module.params["exchange"], f"chunk-{module.params['offset']}")
    compression = module.params["compression"]
    with open_chunk(target, compression) as out:
        transfer.send(stream, module.params["offset"], module.params["length"], files, out)
    if compression == "zstd":
        module.run_command(
            [module.get_bin_path("zstd", required=True), "-q", "-1", "-T0", "--rm", target], check_rc=True
        )
        target += ".zst"
    host.hand_over(target)
    return {"chunk": target}


def open_chunk(path: str, compression: str) -> IO[bytes]:
    """The file that a chunk is written to; zstd works on it afterwards, as the standard library does not have it."""
    if compression == "gzip":
        return cast("IO[bytes]", gzip.open(path, "wb", compresslevel=1))
    return open(path, "wb")


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "step": {"type": "str", "choices": ["manifest", "chunk"], "default": "manifest"},
            "exchange": {"type": "path", "required": True},
            "exclude": {"type": "list", "elements": "str", "default": []},
            "bytecode": {"type": "bool", "default": True},
            "slice_seconds": {"type": "int", "default": 10},
            "write": {"type": "bool", "default": True},
            "files": {"type": "path"},
            "offset": {"type": "int", "default": 0},
            "length": {"type": "int", "default": 0},
            "compression": {"type": "str", "choices": ["zstd", "gzip", "none"], "default": "gzip"},
        },
        required_if=[("step", "chunk", ("files",))],
        supports_check_mode=True,
    )
    step = list_tree if module.params["step"] == "manifest" else pack_chunk
    try:
        module.exit_json(changed=False, **step(module))
    except (OSError, ValueError) as error:
        module.fail_json(msg=f"cannot pack the venv {module.params['path']} on the reference: {error}")


if __name__ == "__main__":
    main()
