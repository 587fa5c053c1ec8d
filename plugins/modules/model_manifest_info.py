# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: model_manifest_info
short_description: Say which files make up a model at a pinned commit
version_added: "0.1.0"
description:
  - Resolves a revision to a commit and lists its files with sizes and digests. Changes nothing, downloads nothing.
  - The listing comes from a hub or a mirror (O(repository), O(endpoint)), from a file (O(manifest_file)), or is made of
    the files in a directory (O(directory)), which are all hashed for it. Exactly one of the three is given.
  - What the module returns is itself a manifest. Saved as JSON it can be the O(manifest_file) of another task on a host
    without network. The form is C({"repository", "commit", "files"}), each file with C(path), C(size) in bytes, and
    C(sha256) or C(git_blob_id) in lower-case hex digits. Repository and commit may be empty; other keys are ignored.
  - A listing with a name that could write outside the directory or over another file is refused as a whole. Those are
    absolute names and C(..), empty parts, backslashes and control characters, two names that are equal but for case or
    Unicode normalisation, and a file that is also the directory of another.
  - Requests that fail for now are repeated with growing pauses, five times in all. A rate limit is waited for as long
    as the hub's C(RateLimit) or C(Retry-After) header says, where that is no longer than its window of five minutes.
author: The inferops.sglang maintainers (@inferops)
options:
  manifest_file:
    description: A file on the host with a listing.
    type: path
  directory:
    description: A directory on the host whose files are the model.
    type: path
  include:
    description:
      - Shell globs over whole paths; a file is listed if one of them matches. All files are where the list is empty.
      - As in C(hf download), V(*) crosses slashes, and a pattern that ends in a slash means everything below.
    type: list
    elements: str
    default: []
  exclude:
    description: Shell globs; a file that one of them matches is not listed.
    type: list
    elements: str
    default: []
  check_access:
    description:
      - Whether to ask for one of the files as well. The listing of a gated repository is public, its files are not, so
        only this tells whether the account of O(token) may download them.
    type: bool
    default: false
  slice_seconds:
    description:
      - With O(directory), after about so many seconds the module begins no further file and returns, finished or not.
        V(0) means when it has finished. The action plugin calls the module until it has.
    type: float
    default: 10
  resume:
    description: What RV(resume) of the slice before said. The action plugin fills it in.
    type: dict
    default: {}
notes:
  - The result has every file, also where a repository has thousands. Narrow it with O(include), or take the fields that
    are needed; C(no_log) keeps a long result off the screen.
extends_documentation_fragment:
  - inferops.sglang.hub
  - inferops.sglang.attributes.info_module
  - inferops.sglang.attributes.action
attributes:
  action:
    support: full
    details: Shows the progress of hashing a directory.
  async:
    support: full
    details: In the background the work is one slice.
seealso:
  - module: inferops.sglang.model_verify_info
  - module: inferops.sglang.model_download
"""

EXAMPLES = r"""
- name: Pin the model, and see whether the account may have it, before a long play
  inferops.sglang.model_manifest_info:
    repository: moonshotai/Kimi-K2.6
    token: "{{ lookup('ansible.builtin.env', 'HF_TOKEN') }}"
    check_access: true
  delegate_to: localhost
  register: model

- name: Keep the listing for a host without network
  ansible.builtin.copy:
    content: "{{ model | ansible.builtin.to_nice_json }}"
    dest: /models/kimi-k2.6.manifest.json
    mode: "0644"

- name: Make the listing of a directory that is known to be good
  inferops.sglang.model_manifest_info:
    directory: /models/kimi-k2.6
"""

RETURN = r"""
repository:
  description: The repository; empty for a directory.
  type: str
  returned: when finished
  sample: moonshotai/Kimi-K2.6
commit:
  description: The full commit id; empty where none is known.
  type: str
  returned: when finished
  sample: 0123456789abcdef0123456789abcdef01234567
files:
  description: The files, sorted by path.
  type: list
  elements: dict
  returned: when finished
  contains:
    path:
      description: The path below the directory of the model.
      type: str
    size:
      description: The size in bytes.
      type: int
    sha256:
      description: The SHA-256 of the content, of a file that the hub keeps in LFS or that was hashed here.
      type: str
    git_blob_id:
      description: The git blob id of the content, of a small file at the hub.
      type: str
files_total:
  description: How many files the commit has, before O(include) and O(exclude).
  type: int
  returned: when finished
bytes:
  description: The sizes of RV(files) together.
  type: int
  returned: when finished
finished:
  description: Whether this is the whole answer. Where it is V(false), call the module again with RV(resume).
  type: bool
  returned: success
progress:
  description: One line for people about where the hashing stands.
  type: str
  returned: when not finished
resume:
  description: What the next slice has to know. It holds no secret.
  type: dict
  returned: when not finished
"""

import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import Manifest, public
from ansible_collections.inferops.sglang.plugins.module_utils._target.manifest_source import (
    HUB_ARGUMENTS,
    SourceRefused,
    from_directory,
    from_file,
    from_hub,
)


def answer(params: dict[str, Any]) -> dict[str, Any]:
    include, exclude = params["include"], params["exclude"]
    if params["directory"]:
        deadline = time.monotonic() + params["slice_seconds"] if params["slice_seconds"] else float("inf")
        made = from_directory(params["directory"], include, exclude, params["resume"], deadline)
        if not isinstance(made, Manifest):
            return dict(made, finished=False)
        manifest = made
    elif params["manifest_file"]:
        manifest = from_file(params["manifest_file"])
    else:
        manifest = from_hub(params, params["check_access"])
    files = manifest.select(include, exclude)
    return {
        "repository": manifest.repository,
        "commit": manifest.commit,
        "files": [public(file) for file in files],
        "files_total": len(manifest.files),
        "bytes": sum(file.size for file in files),
        "finished": True,
    }


def main() -> None:
    module = AnsibleModule(
        argument_spec=dict(
            HUB_ARGUMENTS,
            manifest_file={"type": "path"},
            directory={"type": "path"},
            include={"type": "list", "elements": "str", "default": []},
            exclude={"type": "list", "elements": "str", "default": []},
            check_access={"type": "bool", "default": False},
            slice_seconds={"type": "float", "default": 10},
            resume={"type": "dict", "default": {}},
        ),
        mutually_exclusive=[("repository", "manifest_file", "directory")],
        required_one_of=[("repository", "manifest_file", "directory")],
        supports_check_mode=True,
    )
    try:
        module.exit_json(changed=False, **answer(module.params))
    except SourceRefused as error:
        module.fail_json(msg=str(error))


if __name__ == "__main__":
    main()
