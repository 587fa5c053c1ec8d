# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: model_verify_info
short_description: Say whether a directory holds exactly the model that it should
version_added: "0.1.0"
description:
  - Looks at a directory with a model, whoever filled it (M(inferops.sglang.model_download), C(hf download), rsync, a
    copy by hand), and names everything that is wrong with it in sentences with file, tensor and byte. Changes nothing
    and never loads a tensor.
  - The listing to compare with is that of O(repository) at a hub, the file O(manifest_file), or else what the
    directory knows about itself, which needs no network. That is the listing of M(inferops.sglang.model_download), or
    the digests that C(hf download) leaves in C(.cache/huggingface) and in the names of its cache's blobs. Without any
    of them only the structure can be judged.
  - Defects do not make the task fail. Look at RV(ok) and RV(defects).
  - Holes and pages of zeros are defects or remarks only for files that no digest has proven. Headers, the index and
    sizes can be right while bytes are wrong; only V(full), or a receipt of an earlier one, is proof (RV(proven)).
  - The work is done in slices. The action plugin of the same name calls the module until it has finished and shows
    the progress; called in any other way, look at RV(finished) and hand RV(resume) back.
author: The inferops.sglang maintainers (@inferops)
options:
  path:
    description:
      - The directory. A snapshot in a cache of C(hf download) is one too
        (C(models--organisation--name/snapshots/<commit>)).
    type: path
    required: true
  verify:
    description:
      - V(receipts) compares names, sizes and receipts with metadata. It reads no content.
      - V(structure) also reads the header of every safetensors file, compares every index with its shards in both
        directions, and looks for holes, zeros, pointers of Git LFS and web pages.
      - V(full) also hashes every listed file, several at once.
    type: str
    choices: [receipts, structure, full]
    default: structure
  manifest_file:
    description:
      - A file on the host with the listing, in the form that M(inferops.sglang.model_manifest_info) describes.
      - Mutually exclusive with O(repository).
    type: path
  include:
    description: Shell globs over whole paths; a listed file is expected if one matches. All are where the list is empty.
    type: list
    elements: str
    default: []
  exclude:
    description: Shell globs; a listed file that one of them matches is not expected.
    type: list
    elements: str
    default: []
  threads:
    description:
      - How many files are hashed at the same time, 1 to 64. V(0) means one for each processor the module may use.
    type: int
    default: 0
  slice_seconds:
    description:
      - After about so many seconds the module begins no further file, ends those it is reading, and returns, finished
        or not. V(0) means when it has finished.
    type: float
    default: 10
  resume:
    description: What RV(resume) of the slice before said. The action plugin fills it in.
    type: dict
    default: {}
notes:
  - Where SEEK_HOLE is not supported (NFS before 4.2, some network file systems) holes cannot be seen; there the pages
    of zeros that are looked at in every file, 64 in each, find the larger ones.
  - A model that is still being written would look damaged, so the module refuses a directory that
    M(inferops.sglang.model_download) is working in, and names files that changed while they were read.
extends_documentation_fragment:
  - inferops.sglang.hub
  - inferops.sglang.attributes.info_module
  - inferops.sglang.attributes.action
attributes:
  action:
    support: full
    details: Shows the progress of hashing.
  async:
    support: full
    details: In the background the work is one slice.
seealso:
  - module: inferops.sglang.model_manifest_info
  - module: inferops.sglang.safetensors_info
  - module: inferops.sglang.model_download
"""

EXAMPLES = r"""
- name: A quick look before the service starts
  inferops.sglang.model_verify_info:
    path: /models/kimi-k2.6
  register: model
  failed_when: not model.ok

- name: Hash a directory that hf download filled against its own records, without network
  inferops.sglang.model_verify_info:
    path: /root/.cache/huggingface/hub/models--openai-community--gpt2/snapshots/607a30d783dfa663caf39e06633721c8d4cfcd7e
    verify: full

- name: Hash a copy that rsync made against the hub
  inferops.sglang.model_verify_info:
    path: /models/kimi-k2.6
    repository: moonshotai/Kimi-K2.6
    revision: 0123456789abcdef0123456789abcdef01234567
    verify: full
"""

RETURN = r"""
ok:
  description: Whether nothing is wrong, as far as O(verify) looks.
  type: bool
  returned: when finished
proven:
  description: Whether every expected file was hashed and found right, now or by a receipt that still covers it.
  type: bool
  returned: when finished
source:
  description:
    - Where the listing came from, V(hub), V(file), V(download) (the records of M(inferops.sglang.model_download)),
      V(huggingface) (the records of C(hf download)), or V(none).
  type: str
  returned: when finished
repository:
  description: The repository that the listing names; empty where it names none.
  type: str
  returned: when finished
commit:
  description: The commit of the listing; empty where it names none.
  type: str
  returned: when finished
files:
  description: How many files are expected, or without a listing, how many are there.
  type: int
  returned: when finished
bytes:
  description: Their size in bytes.
  type: int
  returned: when finished
hashed_files:
  description: How many files were hashed and found right.
  type: int
  returned: when finished
receipt_files:
  description: How many files a receipt covers.
  type: int
  returned: when finished
examined_files:
  description: How many files were opened and their structure judged.
  type: int
  returned: when finished
unproven:
  description: Expected files that are there and that no digest has proven, at most 40.
  type: list
  elements: str
  returned: when finished
unproven_total:
  description: How many those are.
  type: int
  returned: when finished
defects:
  description: What is wrong, at most 40 and at most 10 of one file.
  type: list
  elements: dict
  returned: when finished
  contains:
    file:
      description: The path below O(path).
      type: str
    kind:
      description:
        - A short name, one of V(missing), V(size), V(digest), V(unreadable), V(unfinished), V(extra), V(truncated),
          V(trailing), V(disguise), V(header), V(metadata), V(duplicate), V(shape), V(layout), V(index), V(twin),
          V(hole), V(zeros).
      type: str
    message:
      description: The sentence.
      type: str
    tensor:
      description: The tensor concerned, where there is one.
      type: str
    byte:
      description: The byte of the file concerned, where there is one.
      type: int
defects_total:
  description: How many defects there are.
  type: int
  returned: when finished
remarks:
  description: What is unusual and accepted by readers, or no fault of the model, as sentences; at most 40.
  type: list
  elements: str
  returned: when finished
remarks_total:
  description: How many remarks there are.
  type: int
  returned: when finished
extra_files:
  description: Files that the listing does not have and that a program would load all the same, at most 40.
  type: list
  elements: dict
  returned: when finished
  contains:
    file:
      description: The path below O(path).
      type: str
    kind:
      description: What it would be taken for, V(weights), V(index), V(configuration), V(tokenizer) or V(code).
      type: str
hash_bytes:
  description: How many bytes were hashed.
  type: int
  returned: when finished
hash_bytes_per_second:
  description: How fast.
  type: int
  returned: when finished
seconds:
  description: How long the module worked, over all slices.
  type: float
  returned: success
finished:
  description: Whether this is the whole answer. Where it is V(false), call the module again with RV(resume).
  type: bool
  returned: success
progress:
  description: One line for people about where the hashing stands.
  type: str
  returned: when not finished
  sample: hashed 212 GiB of 590 GiB  36 %  1.9 GiB/s  61/163 files
resume:
  description: What the next slice has to know. It holds no secret.
  type: dict
  returned: when not finished
"""

import os
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import (
    Manifest,
    dump_manifest,
    load_manifest,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.hashing import MAX_THREADS, default_threads
from ansible_collections.inferops.sglang.plugins.module_utils._target.manifest_source import (
    HUB_ARGUMENTS,
    SourceRefused,
    from_file,
    from_hub,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_records import (
    Records,
    held_still,
    read_records,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_tree import read_tree
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_verify import Verification, Wish


def listing(params: dict[str, Any], records: Records) -> tuple[Manifest | None, str]:
    """The listing to compare with, and where it came from."""
    kept = load_manifest(params["resume"].get("manifest", ""))
    if kept:
        return kept, params["resume"]["source"]
    if params["repository"]:
        return from_hub(params), "hub"
    if params["manifest_file"]:
        return from_file(params["manifest_file"]), "file"
    return records.manifest, records.source


def plan(params: dict[str, Any]) -> Verification:
    path = params["path"]
    if os.path.isdir(os.path.join(path, "snapshots")) and os.path.isdir(os.path.join(path, "blobs")):
        raise SourceRefused(f"{path} is a cache of hf download, not a model; name a directory below {path}/snapshots")
    tree = read_tree(path)
    records = read_records(tree)
    manifest, source = listing(params, records)
    if manifest is None and params["verify"] != "structure":
        raise SourceRefused(
            f"{path} keeps no record of what belongs there, so there is nothing to compare with: give repository or "
            "manifest_file, or take verify: structure"
        )
    wish = Wish(
        verify=params["verify"],
        manifest=manifest,
        wanted=records.wanted if source == "download" else None,
        source=source,
        include=params["include"],
        exclude=params["exclude"],
        threads=params["threads"] or default_threads(),
    )
    return Verification(wish, tree, records, dict(params["resume"]))


def work(params: dict[str, Any]) -> dict[str, Any]:
    begun = time.monotonic()
    with held_still(params["path"]) as still:
        if not still:
            raise SourceRefused(f"A download is at work in {params['path']} right now: wait until it has finished")
        verification = plan(params)
        deadline = begun + params["slice_seconds"] if params["slice_seconds"] else float("inf")
        finished = params["verify"] != "full" or verification.hash(deadline)
        result: dict[str, Any] = verification.judge() if finished else {"progress": verification.progress}
    seconds = params["resume"].get("seconds", 0.0) + time.monotonic() - begun
    result.update(finished=finished, seconds=round(seconds, 3))
    if not finished and verification.wish.manifest:
        kept = {"manifest": dump_manifest(verification.wish.manifest), "source": verification.wish.source}
        result["resume"] = dict(verification.resume, seconds=seconds, **kept)
    return result


def main() -> None:
    module = AnsibleModule(
        argument_spec=dict(
            HUB_ARGUMENTS,
            path={"type": "path", "required": True},
            verify={"type": "str", "choices": ["receipts", "structure", "full"], "default": "structure"},
            manifest_file={"type": "path"},
            include={"type": "list", "elements": "str", "default": []},
            exclude={"type": "list", "elements": "str", "default": []},
            threads={"type": "int", "default": 0},
            slice_seconds={"type": "float", "default": 10},
            resume={"type": "dict", "default": {}},
        ),
        mutually_exclusive=[("repository", "manifest_file")],
        supports_check_mode=True,
    )
    params = module.params
    if not 0 <= params["threads"] <= MAX_THREADS:
        module.fail_json(msg=f"threads is {params['threads']}; it must be between 0 and {MAX_THREADS}")
    try:
        module.exit_json(changed=False, **work(params))
    except SourceRefused as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        module.fail_json(msg=f"Cannot read the directory {params['path']}: {error.strerror}")


if __name__ == "__main__":
    main()
