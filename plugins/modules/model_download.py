# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: model_download
short_description: Download a model and prove that every byte is right
version_added: "0.1.0"
author:
  - The inferops.sglang maintainers (@inferops)
description:
  - Brings the files of a model repository from the Hugging Face Hub, or a mirror that speaks its API, into a directory
    of plain files that SGLang can load.
  - The revision is pinned to a commit first. Large files are fetched by aria2c with several connections each, in a
    transient systemd unit that goes on when the controller or the connection dies; the next run finds it again.
  - Each file is hashed as it completes, while others are still on their way, and compared to the hub's listing; headers
    and index of safetensors files are checked. Only then it gets its name. A receipt for each file lets later runs
    read nothing but metadata.
  - Redirects to a content delivery network are followed by the module, so the token is sent to O(endpoint) alone, and
    stands in no argument list, environment, file or log.
  - The work is done in slices. The action plugin of the same name calls the module until it has finished and shows the
    progress; called in any other way, look at RV(finished) and hand RV(resume) back.
options:
  repository:
    description: The repository, as V(organisation/name).
    type: str
    required: true
  revision:
    description:
      - A branch, a tag or a full commit id.
      - With a full commit id of 40 digits a run on a finished directory asks the hub nothing at all.
    type: str
    default: main
  path:
    description:
      - The absolute path of the directory for the files. It is created where it does not exist.
      - Files that are there already are hashed once, and kept where they are right.
    type: path
    required: true
  endpoint:
    description: The hub.
    type: str
    default: https://huggingface.co
  token:
    description: The token for gated and private repositories.
    type: str
  include:
    description:
      - Shell globs over whole paths; a file is wanted if one of them matches. All files are where the list is empty.
      - As in C(hf download), V(*) crosses slashes, and a pattern that ends in a slash means everything below.
    type: list
    elements: str
    default: []
  exclude:
    description: Shell globs; a file that one of them matches is not wanted.
    type: list
    elements: str
    default: []
  connections_per_file:
    description: How many connections fetch one file, 1 to 16.
    type: int
    default: 16
  parallel_files:
    description: How many files are fetched at the same time, 1 to 64.
    type: int
    default: 4
  seeds:
    description:
      - The hosts that share the model, each as M(inferops.sglang.model_seed) returned its address, in the same order for
        all of them. Each file is taken from one that has verified it, and from the hub by one host alone where none has.
      - What comes from another host is verified like any other file. A host that gives wrong bytes, or none, is passed
        over, and without any of them everything comes from the hub.
      - Access to the files at the hub is not tried beforehand, because a host that gets all from others needs none.
    type: list
    elements: str
    default: []
  seed_address:
    description: The one of O(seeds) that is this host. Required with O(seeds), except in check mode.
    type: str
  seed_key:
    description: The key whose digest M(inferops.sglang.model_seed) was given. Required with O(seeds), except in check mode.
    type: str
  extra_files:
    description:
      - What happens to files that the commit does not list and that programs would load from the directory all the same,
        such as a shard of another model or a C(tokenizer.json) of one's own.
      - V(report) warns of them, V(remove) deletes them, V(ignore) does not look.
    type: str
    choices: [report, remove, ignore]
    default: report
  verify:
    description:
      - What a finished directory is asked for.
      - V(receipts) compares the metadata of the files with their receipts.
      - V(structure) also reads the headers of all safetensors files and the index.
      - V(full) hashes every file again. Files that are wrong are fetched again.
      - A file without a receipt is hashed in any case.
    type: str
    choices: [receipts, structure, full]
    default: receipts
  owner:
    description: The user that owns files and directories.
    type: str
  group:
    description: The group that owns files and directories.
    type: str
  mode:
    description: The mode of the files, as an octal string.
    type: str
    default: "0644"
  directory_mode:
    description: The mode of O(path) and the directories below it, as an octal string.
    type: str
    default: "0755"
  validate_certs:
    description: Whether the certificates of O(endpoint) and its content delivery network are checked.
    type: bool
    default: true
  ca_path:
    description: A file of certificates to trust in place of the system's.
    type: path
  slice_seconds:
    description: After about so many seconds the module returns, finished or not. V(0) means when it has finished.
    type: float
    default: 10
  resume:
    description: What RV(resume) of the slice before said. The action plugin fills it in.
    type: dict
    default: {}
requirements:
  - aria2c (Debian package aria2), as soon as a large file has to be fetched
  - systemd, and to run as root
extends_documentation_fragment:
  - inferops.sglang.attributes
attributes:
  check_mode:
    support: full
    details:
      - Asks the hub, says how many bytes would be fetched, and touches nothing; also where aria2 is not installed.
  diff_mode:
    support: full
    details:
      - Shows the commit before and after, and the first 40 files that would be or were fetched.
  idempotent:
    support: full
    details:
      - A second run resolves the revision with one request and reads metadata.
  platform:
    support: full
    platforms: posix
    details:
      - Linux with systemd.
"""

EXAMPLES = r"""
- name: Download the model at a pinned commit
  inferops.sglang.model_download:
    repository: moonshotai/Kimi-K2.6
    revision: 0123456789abcdef0123456789abcdef01234567
    path: /models/kimi-k2.6

- name: Download a gated model without its original checkpoint
  inferops.sglang.model_download:
    repository: meta-llama/Llama-3.1-8B-Instruct
    path: /models/llama-3.1-8b
    token: "{{ lookup('ansible.builtin.env', 'HF_TOKEN') }}"
    exclude: ["original/"]

- name: Hash everything again after a disk was repaired
  inferops.sglang.model_download:
    repository: moonshotai/Kimi-K2.6
    path: /models/kimi-k2.6
    verify: full
"""

RETURN = r"""
commit:
  description: The full commit id that the files belong to.
  returned: success
  type: str
  sample: 0123456789abcdef0123456789abcdef01234567
files:
  description: How many files of the commit are wanted.
  returned: success
  type: int
  sample: 163
bytes:
  description: Their size in bytes.
  returned: success
  type: int
  sample: 633507610624
downloaded_bytes:
  description: How many bytes this run fetched, or would fetch in check mode.
  returned: success
  type: int
  sample: 633507610624
extra_files:
  description: Files that programs would load although the commit does not list them, at most 40; see O(extra_files).
  returned: success, when finished
  type: list
  elements: str
  sample: [model-00065-of-00064.safetensors]
shared_bytes:
  description: How many bytes came from other hosts.
  returned: success
  type: int
  sample: 0
verified_files:
  description: How many files this run hashed and found right.
  returned: success
  type: int
  sample: 163
path:
  description: The directory.
  returned: success
  type: str
  sample: /models/kimi-k2.6
seconds:
  description: How long the run took, over all slices.
  returned: success
  type: float
  sample: 1103.4
finished:
  description: Whether everything is in place. Where it is V(false), call the module again with RV(resume).
  returned: success
  type: bool
  sample: true
progress:
  description: One line for people about where the transfer stands.
  returned: when not finished
  type: str
  sample: 212/590 GiB  36 %  1.9 GiB/s  ETA 3 min 20 s  61/163 files verified
resume:
  description: What the next slice has to know. It holds no secret.
  returned: when not finished
  type: dict
"""

import os
import time
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import MAX_CONNECTIONS
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.names import NameRefused
from ansible_collections.inferops.sglang.plugins.module_utils._target import extra_files
from ansible_collections.inferops.sglang.plugins.module_utils._target.aria2_unit import Settings
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_download import ModelDownload, Wish
from ansible_collections.inferops.sglang.plugins.module_utils._target.ownership import apply_ownership
from ansible_collections.inferops.sglang.plugins.module_utils._target.swarm import Group
from ansible_collections.inferops.sglang.plugins.module_utils._target.web import Web

DIFF_FILES = 40


def check_arguments(module: AnsibleModule) -> None:
    """Refuse what the argument specification cannot tell, before anything is touched."""
    params = module.params
    if not os.path.isabs(params["path"]) or os.path.normpath(params["path"]) == "/":
        module.fail_json(msg=f"path is {params['path']!r}; give the absolute path of a directory of the model's own")
    if not params["endpoint"].startswith(("https://", "http://")):
        module.fail_json(msg=f"endpoint is {params['endpoint']!r}; it starts with https:// or http://")
    if any(not character.isprintable() or character.isspace() for character in params["token"] or ""):
        module.fail_json(msg="token holds white space or an unprintable character; a token is one word such as hf_...")
    if params["seeds"] and not module.check_mode and not (params["seed_address"] and params["seed_key"]):
        module.fail_json(
            msg="seeds needs seed_address and seed_key, as they come from model_seed; the role does it all"
        )
    for name, highest in (("connections_per_file", MAX_CONNECTIONS), ("parallel_files", 64)):
        if not 1 <= params[name] <= highest:
            module.fail_json(msg=f"{name} is {params[name]}; it must be between 1 and {highest}")


def find_executable(module: AnsibleModule) -> str:
    """aria2c, after checking that this host can run it as a unit; called only where something has to be fetched."""
    if os.geteuid() != 0:
        module.fail_json(msg="The download runs as a systemd unit, which needs root: use become")
    for name, package in (("systemd-run", "systemd"), ("aria2c", "aria2")):
        if not module.get_bin_path(name):
            module.fail_json(msg=f"{name} is not on this host: install the Debian package {package}")
    return str(module.get_bin_path("aria2c"))


def plan(module: AnsibleModule) -> ModelDownload:
    params = module.params
    wish = Wish(
        repository=params["repository"],
        revision=params["revision"],
        path=params["path"],
        endpoint=params["endpoint"],
        token=params["token"] or "",
        include=params["include"],
        exclude=params["exclude"],
        verify=params["verify"],
        slice_seconds=params["slice_seconds"],
        resume=params["resume"],
        group=Group(params["seed_key"] or "", params["seeds"], params["seed_address"] or "")
        if params["seeds"]
        else None,
    )
    settings = Settings(
        executable=module.get_bin_path("aria2c") or "",
        connections=params["connections_per_file"],
        parallel_files=params["parallel_files"],
        validate_certs=params["validate_certs"],
        ca_path=params["ca_path"] or "",
    )
    return ModelDownload(wish, Web(params["validate_certs"], params["ca_path"]), module.run_command, settings)


def work(module: AnsibleModule, download: ModelDownload, result: dict[str, Any]) -> None:
    """Do one slice; fills *result* in."""
    if download.survey.missing:
        find_executable(module)
    os.makedirs(module.params["path"], exist_ok=True)
    with download.directory.locked() as mine:
        if mine:
            result["finished"] = download.advance()
        else:
            result["finished"] = False
            download.progress = "waits for another run that holds the directory"
            time.sleep(min(2.0, module.params["slice_seconds"] or 2.0))


def run(module: AnsibleModule) -> dict[str, Any]:
    params, started = module.params, module.params["resume"].get("started", time.time())
    download = plan(module)
    download.resume["started"] = started
    result: dict[str, Any] = {"changed": not download.converged, "finished": True}
    if params["verify"] != "receipts" and download.converged:
        download.check_structure()
    if not params["resume"]:
        download.check_space()
        download.check_access()
    if module._diff:
        result["diff"] = difference(download)
    if not download.converged and not module.check_mode:
        work(module, download, result)
        while not result["finished"] and params["slice_seconds"] == 0:
            work(module, download, result)
        result["changed"] = bool(download.resume.get("changed"))
    if result["finished"] and os.path.isdir(params["path"]):
        attributes = (params["owner"], params["group"], params["mode"], params["directory_mode"])
        paths = [file.path for file in download.files]
        result["changed"] = apply_ownership(module, params["path"], paths, *attributes) or result["changed"]
    if result["finished"]:
        look_for_extra_files(module, download, result)
    if not result["finished"]:
        result.update(progress=download.progress, resume=download.resume)
    elif download.resume.get("unreached"):
        module.warn(
            f"{', '.join(download.resume['unreached'])} did not answer and gave no files: look at the service there, and "
            "at firewalls between the hosts"
        )
    result.update(
        commit=download.commit,
        files=len(download.files),
        bytes=download.bytes,
        downloaded_bytes=download.resume["downloaded_bytes"],
        shared_bytes=download.resume["shared_bytes"],
        verified_files=download.resume["verified_files"],
        path=params["path"],
        seconds=round(time.time() - started, 1),
    )
    return result


def look_for_extra_files(module: AnsibleModule, download: ModelDownload, result: dict[str, Any]) -> None:
    """Report or remove what a program would load although the commit does not list it."""
    path, wish = module.params["path"], module.params["extra_files"]
    # What an earlier commit left is removed when this one is published, whatever the option says.
    listed = download.directory.receipted | {file.path for file in download.manifest.files}
    extra = extra_files.find_extra(path, listed) if wish != "ignore" else []
    result["extra_files"] = extra[:DIFF_FILES]
    if extra and wish == "report":
        module.warn(extra_files.warning(path, extra))
    elif extra:
        result["changed"] = True
        if module._diff:
            result["diff"]["after"]["removed"] = extra[:DIFF_FILES]
        if not module.check_mode:
            extra_files.remove_extra(path, extra)


def difference(download: ModelDownload) -> dict[str, Any]:
    missing = [file.path for file in download.survey.missing]
    after: dict[str, Any] = {"commit": download.commit}
    if missing:
        after["fetched"] = missing[:DIFF_FILES]
    return {"before": {"commit": download.directory.published_commit()}, "after": after}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "repository": {"type": "str", "required": True},
            "revision": {"type": "str", "default": "main"},
            "path": {"type": "path", "required": True},
            "endpoint": {"type": "str", "default": "https://huggingface.co"},
            "token": {"type": "str", "no_log": True},
            "include": {"type": "list", "elements": "str", "default": []},
            "exclude": {"type": "list", "elements": "str", "default": []},
            "connections_per_file": {"type": "int", "default": 16},
            "parallel_files": {"type": "int", "default": 4},
            "seeds": {"type": "list", "elements": "str", "default": []},
            "seed_address": {"type": "str"},
            "seed_key": {"type": "str", "no_log": True},
            "extra_files": {"type": "str", "choices": ["report", "remove", "ignore"], "default": "report"},
            "verify": {"type": "str", "choices": ["receipts", "structure", "full"], "default": "receipts"},
            "owner": {"type": "str"},
            "group": {"type": "str"},
            "mode": {"type": "str", "default": "0644"},
            "directory_mode": {"type": "str", "default": "0755"},
            "validate_certs": {"type": "bool", "default": True},
            "ca_path": {"type": "path"},
            "slice_seconds": {"type": "float", "default": 10},
            "resume": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    check_arguments(module)
    try:
        module.exit_json(**run(module))
    except (HubError, NameRefused, TransferFailed) as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        module.fail_json(msg=f"Cannot work in {module.params['path']}: {error}")


if __name__ == "__main__":
    main()
