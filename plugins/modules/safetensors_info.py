# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: safetensors_info
short_description: Say what safetensors files hold, and what is wrong with them
version_added: "0.1.0"
description:
  - Reads the headers of one safetensors file, or of all below a directory with their indexes, and never a tensor.
  - Stricter than the reader of the safetensors package where the format says so (the same name twice), and as lenient
    where it is legitimate (shards of any size, a C(total_size) that does not add up is a remark).
  - A header says nothing about the bytes behind it; M(inferops.sglang.model_verify_info) proves those.
  - Memory grows with the largest header, by some ten times its size. A shard of a large model has a header of some
    hundred kilobytes, the format allows 100 MB.
author: The inferops.sglang maintainers (@inferops)
options:
  path:
    description: A safetensors file, or a directory.
    type: path
    required: true
  tensors:
    description:
      - Shell globs over tensor names. The tensors that match are listed in RV(tensors), at most 1000 of them.
        V(["*"]) lists all.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - inferops.sglang.attributes.info_module
seealso:
  - module: inferops.sglang.model_verify_info
"""

EXAMPLES = r"""
- name: What is this model made of
  inferops.sglang.safetensors_info:
    path: /models/kimi-k2.6

- name: The shapes of the router of one layer
  inferops.sglang.safetensors_info:
    path: /models/kimi-k2.6
    tensors: "*.layers.7.mlp.gate.*"
"""

RETURN = r"""
ok:
  description: Whether no file has a defect.
  type: bool
  returned: success
files:
  description: The files, each with path below O(path), size in bytes and number of tensors; at most 1000.
  type: list
  elements: dict
  returned: success
  contains:
    path:
      description: The file.
      type: str
    size:
      description: Its size in bytes.
      type: int
    header_bytes:
      description: What its header takes; V(0) where it has none that can be read.
      type: int
    tensors:
      description: How many tensors it has.
      type: int
summary:
  description: What all files hold together.
  type: dict
  returned: success
  contains:
    tensors:
      description: How many tensors there are.
      type: int
    parameters:
      description: How many elements, as stored. Eight 4-bit weights packed into an I32 count as one.
      type: int
    bytes:
      description: What the tensors take.
      type: int
    bytes_by_dtype:
      description: The same by data type.
      type: dict
    tensors_by_dtype:
      description: How many tensors of each data type.
      type: dict
    tensors_by_rank:
      description: How many tensors of each number of dimensions.
      type: dict
    largest:
      description: The five largest tensors with name, dtype, shape and bytes.
      type: list
      elements: dict
metadata:
  description: The C(__metadata__) of the files; of a key that differs between them, the first value.
  type: dict
  returned: success
tensors:
  description: The tensors that O(tensors) asks for, each with file, name, dtype, shape and bytes; at most 1000.
  type: list
  elements: dict
  returned: success
tensors_total:
  description: How many tensors match.
  type: int
  returned: success
defects:
  description: What is wrong, as in M(inferops.sglang.model_verify_info); at most 40.
  type: list
  elements: dict
  returned: success
defects_total:
  description: How many defects there are.
  type: int
  returned: success
remarks:
  description: What is unusual and accepted by readers, as sentences; at most 40.
  type: list
  elements: str
  returned: success
remarks_total:
  description: How many remarks there are.
  type: int
  returned: success
"""

import os
from typing import Any, Sequence

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.header import Header
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.index import INDEX_SUFFIX
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.safetensors import SUFFIX
from ansible_collections.inferops.sglang.plugins.module_utils._core.weights.summary import (
    Summary,
    describe,
    matching,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_tree import ModelTree, read_tree
from ansible_collections.inferops.sglang.plugins.module_utils._target.weights_set import look_at_all

SHOWN = 40
SHOWN_ENTRIES = 1000


def find(path: str) -> tuple[ModelTree, list[str]]:
    """The files to look at, as paths below the directory of *path*."""
    if os.path.isdir(path):
        tree = read_tree(path)
        return tree, [name for name in tree.files if name.endswith((SUFFIX, INDEX_SUFFIX))]
    folder, name = os.path.split(os.path.abspath(path))
    return ModelTree(folder, {name: os.stat(path)}), [name]


def describe_all(tree: ModelTree, paths: Sequence[str], whole: bool, patterns: Sequence[str]) -> dict[str, Any]:
    """What *paths* hold; *whole* says that they are all that is there."""
    summary = Summary()
    listed: list[dict[str, Any]] = []
    metadata: dict[str, str] = {}
    headers: dict[str, tuple[int, int]] = {}

    def see(path: str, header: Header) -> None:
        summary.add(header)
        headers[path] = header.header_bytes, len(header.entries)
        for key, value in header.metadata.items():
            metadata.setdefault(key, value)
        listed.extend(dict(describe(tensor), file=path) for tensor in matching(header, patterns))

    found = look_at_all(tree, paths, proven=(), by_name=whole, see=see)
    files = [
        {"path": path, "size": tree.files[path].st_size, "header_bytes": size, "tensors": count}
        for path in sorted(paths)
        for size, count in [headers.get(path, (0, 0))]
        if not path.endswith(INDEX_SUFFIX)
    ]
    return {
        "ok": found.defects_total == 0,
        "files": files[:SHOWN_ENTRIES],
        "summary": summary.public(),
        "metadata": metadata,
        "tensors": listed[:SHOWN_ENTRIES],
        "tensors_total": len(listed),
        "defects": [defect.public(file) for file, defect in found.defects[:SHOWN]],
        "defects_total": found.defects_total,
        "remarks": found.warnings[:SHOWN],
        "remarks_total": len(found.warnings),
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "path", "required": True},
            "tensors": {"type": "list", "elements": "str", "default": []},
        },
        supports_check_mode=True,
    )
    path = module.params["path"]
    try:
        tree, paths = find(path)
        if not paths:
            module.fail_json(msg=f"There is no file *{SUFFIX} in {path}")
        if not os.path.isdir(path) and not path.endswith(SUFFIX):
            module.fail_json(msg=f"{path} is no file *{SUFFIX}: name one, or a directory that holds some")
        module.exit_json(changed=False, **describe_all(tree, paths, os.path.isdir(path), module.params["tensors"]))
    except OSError as error:
        module.fail_json(msg=f"Cannot read {path}: {error.strerror}")


if __name__ == "__main__":
    main()
