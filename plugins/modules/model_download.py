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
  state:
    description:
      - Whether the model is to be there.
      - V(absent) removes what this module brought to O(path), with its records, and leaves other files. It is refused
        where a process or a unit uses the model.
    type: str
    choices: [present, absent]
    default: present
  repository:
    description: The repository, as V(organisation/name). Required with O(state=present).
    type: str
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
  layout:
    description:
      - With V(single) O(path) is the directory of the model, and a new commit replaces in it what differs.
      - With V(revisions) O(path) holds one directory for each commit, and a link C(current) to the one that was finished
        last. The link is turned in one step. Files that two revisions have in common are fetched and stored once, as
        one file with two names.
    type: str
    choices: [single, revisions]
    default: single
  keep_revisions:
    description:
      - How many revisions stay with O(layout=revisions), the new one among them.
      - A revision that a process or a unit uses stays in any case, also where the unit names it in a configuration file,
        or was started when C(current) still led there.
    type: int
    default: 2
  endpoint:
    description: The hub. Which files there are, and what they have to be, is its word alone.
    type: str
    default: https://huggingface.co
  mirrors:
    description:
      - Further addresses that serve the same repositories. Each file is taken from the first of them that has it, and from
        O(endpoint) where none has.
      - A mirror is asked for the pinned commit, without O(token), and what it sends is verified like everything else. One
        that does not answer, or sends something else, is out for the rest of the run, with a warning.
    type: list
    elements: str
    default: []
  token:
    description: The token for gated and private repositories.
    type: str
  proxy:
    description:
      - The proxy for everything that is fetched, as V(http://user:password@host:port).
      - Without it the environment decides (E(https_proxy), E(http_proxy), E(no_proxy)).
    type: str
  no_proxy:
    description:
      - Names, domains and addresses that are reached without a proxy, with commas between them. The hosts in O(seeds) are
        among them in any case.
    type: str
  manifest_file:
    description:
      - A file on the host with the listing of a commit, as M(inferops.sglang.model_manifest_info) returns it. It takes the
        place of the hub's own listing, for a host that reaches no more of a hub than the files, or where somebody has to
        approve what is downloaded.
      - It pins the commit. O(revision) is not looked up, and where it is a full commit id it has to be the same one.
    type: path
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
    description:
      - How many files are fetched at the same time, 1 to 64.
      - aria2c receives with one thread. On the two processors of C(make bench NAME=download) it was busy with six files of
        16 connections that the network held to 8 MB/s each; more cost time where connections are fast.
    type: int
    default: 6
  bandwidth_limit_mib_per_s:
    description:
      - How many MiB a second all files together may take; V(0) is no limit.
      - A transfer that is running already is told of a new limit.
    type: float
    default: 0
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
      - Shows the commit before and after, the first 40 files that would be or were fetched, and revisions that go.
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

- name: Keep the last three revisions; a server is given /models/kimi-k2.6/current
  inferops.sglang.model_download:
    repository: moonshotai/Kimi-K2.6
    path: /models/kimi-k2.6
    layout: revisions
    keep_revisions: 3

- name: Download through a proxy, from the mirror in the house where it has the file, at no more than 200 MiB a second
  inferops.sglang.model_download:
    repository: moonshotai/Kimi-K2.6
    path: /models/kimi-k2.6
    mirrors: [https://models.example.org]
    proxy: http://proxy.example.org:3128
    no_proxy: models.example.org
    bandwidth_limit_mib_per_s: 200

- name: Download what was approved, through a mirror that has no API
  inferops.sglang.model_download:
    repository: moonshotai/Kimi-K2.6
    path: /models/kimi-k2.6
    manifest_file: /models/kimi-k2.6.manifest.json
    endpoint: https://models.example.org

- name: Remove a model that nothing uses
  inferops.sglang.model_download:
    path: /models/kimi-k2.6
    state: absent

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
  description: The directory of the files; with O(layout=revisions) that of the commit.
  returned: success
  type: str
  sample: /models/kimi-k2.6
pruned_revisions:
  description: The commits whose directories were removed, or would be in check mode.
  returned: success, when finished
  type: list
  elements: str
  sample: []
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
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.disk import explain
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.driver import TransferFailed
from ansible_collections.inferops.sglang.plugins.module_utils._core.fetch.options import MAX_CONNECTIONS, Settings
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.names import NameRefused, check_address
from ansible_collections.inferops.sglang.plugins.module_utils._target import extra_files, model_upkeep
from ansible_collections.inferops.sglang.plugins.module_utils._target.directory_lock import locked
from ansible_collections.inferops.sglang.plugins.module_utils._target.manifest_source import SourceRefused, pinned_in
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_download import ModelDownload, Wish
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_removal import ModelRemoval
from ansible_collections.inferops.sglang.plugins.module_utils._target.ownership import apply_ownership
from ansible_collections.inferops.sglang.plugins.module_utils._target.swarm import Group
from ansible_collections.inferops.sglang.plugins.module_utils._target.web import (
    ProxyRefused,
    Web,
    proxies_of,
    without_proxy,
)

SHOWN_FILES = 40


def check_arguments(module: AnsibleModule) -> None:
    """Refuse what the argument specification cannot tell, before anything is touched."""
    params = module.params
    if not os.path.isabs(params["path"]) or os.path.normpath(params["path"]) == "/":
        module.fail_json(msg=f"path is {params['path']!r}; give the absolute path of a directory of the model's own")
    for name, address in [("endpoint", params["endpoint"]), *(("a mirror", address) for address in params["mirrors"])]:
        check_address(name, address)
    for name, word in (("token", "such as hf_..."), ("proxy", "such as http://proxy:3128")):
        if any(not character.isprintable() or character.isspace() for character in params[name] or ""):
            module.fail_json(msg=f"{name} holds white space or an unprintable character; it is one word {word}")
    if params["seeds"] and not module.check_mode and not (params["seed_address"] and params["seed_key"]):
        module.fail_json(
            msg="seeds needs seed_address and seed_key, as they come from model_seed; the role does it all"
        )
    if params["bandwidth_limit_mib_per_s"] < 0:
        module.fail_json(msg=f"bandwidth_limit_mib_per_s is {params['bandwidth_limit_mib_per_s']}; 0 is no limit")
    for name, lowest, highest in (
        ("connections_per_file", 1, MAX_CONNECTIONS),
        ("parallel_files", 1, 64),
        ("keep_revisions", 1, 1000),
    ):
        if not lowest <= params[name] <= highest:
            module.fail_json(msg=f"{name} is {params[name]}; it must be between {lowest} and {highest}")


def check_host(module: AnsibleModule) -> None:
    """That this host can run aria2c as a unit; asked only where something has to be fetched."""
    if os.geteuid() != 0:
        module.fail_json(msg="The download runs as a systemd unit, which needs root: use become")
    for name, package in (("systemd-run", "systemd"), ("aria2c", "aria2")):
        if not module.get_bin_path(name):
            module.fail_json(msg=f"{name} is not on this host: install the Debian package {package}")


def plan(module: AnsibleModule) -> ModelDownload:
    params = module.params
    group = Group(params["seed_key"] or "", params["seeds"], params["seed_address"] or "") if params["seeds"] else None
    wish = Wish(
        repository=params["repository"],
        revision=params["revision"],
        path=params["path"],
        endpoint=params["endpoint"],
        mirrors=params["mirrors"],
        token=params["token"] or "",
        include=params["include"],
        exclude=params["exclude"],
        verify=params["verify"],
        slice_seconds=params["slice_seconds"],
        resume=params["resume"],
        side_by_side=params["layout"] == "revisions",
        group=group,
        manifest=pinned_in(params["manifest_file"], params["repository"], params["revision"])
        if params["manifest_file"]
        else None,
    )
    proxies = proxies_of(params["proxy"], params["no_proxy"])
    settings = Settings(
        executable=module.get_bin_path("aria2c") or "",
        connections=params["connections_per_file"],
        parallel_files=params["parallel_files"],
        validate_certs=params["validate_certs"],
        ca_path=params["ca_path"] or "",
        bytes_per_second=round(params["bandwidth_limit_mib_per_s"] * (1 << 20)),
        proxies=without_proxy(proxies, group.names if group else ()),
    )
    return ModelDownload(wish, Web(params["validate_certs"], params["ca_path"], proxies), module.run_command, settings)


def run(module: AnsibleModule) -> dict[str, Any]:
    """One slice."""
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
    if not module.check_mode:
        result["finished"] = download.converged or work(module, download)
        result["changed"] = bool(download.resume.get("changed"))
    if result["finished"]:
        finish(module, download, result)
    if not result["finished"]:
        result.update(progress=download.progress, resume=download.resume)
    result.update(
        commit=download.commit,
        files=len(download.files),
        bytes=download.bytes,
        downloaded_bytes=download.resume["downloaded_bytes"],
        shared_bytes=download.resume["shared_bytes"],
        verified_files=download.resume["verified_files"],
        path=download.directory.path,
        seconds=round(time.time() - started, 1),
    )
    return result


def work(module: AnsibleModule, download: ModelDownload) -> bool:
    """Transfer and verify; True when that has come to its end."""
    if download.survey.missing:
        check_host(module)
    with download.locked() as mine:
        return download.advance() if mine else wait(module, download)


def wait(module: AnsibleModule, download: ModelDownload) -> bool:
    download.progress = "waits for another run that holds the directory"
    time.sleep(min(2.0, module.params["slice_seconds"] or 2.0))
    return False


def finish(module: AnsibleModule, download: ModelDownload, result: dict[str, Any]) -> None:
    """Everything is verified, or would be: do the rest of what the task asks for, and say what was noticed."""
    params = module.params
    options = (params["extra_files"], params["keep_revisions"], module.run_command)
    upkeep = model_upkeep.look(download, *options)
    if upkeep.needed and not module.check_mode:
        with download.locked() as mine:
            if not mine:
                result["finished"] = wait(module, download)
                return
            upkeep = model_upkeep.look(download, *options)
            model_upkeep.carry_out(download, upkeep)
        download.resume["changed"] = True
    attributes = (params["owner"], params["group"], params["mode"], params["directory_mode"])
    paths = [file.path for file in download.files]
    differs = apply_ownership(module, download.directory.path, paths, *attributes)
    differs = apply_ownership(module, params["path"], [], *attributes) or differs
    result["changed"] = result["changed"] or upkeep.needed or differs
    result["extra_files"], result["pruned_revisions"] = list(upkeep.extra[:SHOWN_FILES]), list(upkeep.pruning.goes)
    if module._diff and upkeep.removes_extra and upkeep.extra:
        result["diff"]["after"]["removed"] = result["extra_files"]
    if module._diff and upkeep.pruning.goes:
        result["diff"]["after"]["pruned"] = result["pruned_revisions"]
    if upkeep.extra and not upkeep.removes_extra:
        module.warn(extra_files.warning(download.directory.path, upkeep.extra))
    for sentence in [*upkeep.pruning.stays, *download.warnings()]:
        module.warn(sentence)


def remove(module: AnsibleModule) -> dict[str, Any]:
    path = module.params["path"]
    removal = ModelRemoval(path, module.run_command)
    result: dict[str, Any] = {"changed": removal.needed, "finished": True, "path": path}
    if not removal.needed:
        return result
    if module._diff:
        result["diff"] = {"before": {"state": "present"}, "after": {"state": "absent"}}
    removal.check_users()
    if not module.check_mode:
        with locked(path) as mine:
            if not mine:
                module.fail_json(msg=f"Another run is at work in {path}: wait for it, then remove the model")
            left = removal.remove()
        if left:
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            module.warn(f"{path} stays: model_download did not bring {left[0]}{more}")
    return result


def difference(download: ModelDownload) -> dict[str, Any]:
    missing = [file.path for file in download.survey.missing]
    after: dict[str, Any] = {"commit": download.commit}
    if missing:
        after["fetched"] = missing[:SHOWN_FILES]
    return {"before": {"commit": download.published_commit()}, "after": after}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "repository": {"type": "str"},
            "revision": {"type": "str", "default": "main"},
            "path": {"type": "path", "required": True},
            "layout": {"type": "str", "choices": ["single", "revisions"], "default": "single"},
            "keep_revisions": {"type": "int", "default": 2},
            "endpoint": {"type": "str", "default": "https://huggingface.co"},
            "mirrors": {"type": "list", "elements": "str", "default": []},
            "token": {"type": "str", "no_log": True},
            "proxy": {"type": "str", "no_log": True},
            "no_proxy": {"type": "str"},
            "manifest_file": {"type": "path"},
            "include": {"type": "list", "elements": "str", "default": []},
            "exclude": {"type": "list", "elements": "str", "default": []},
            "connections_per_file": {"type": "int", "default": 16},
            "parallel_files": {"type": "int", "default": 6},
            "bandwidth_limit_mib_per_s": {"type": "float", "default": 0},
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
        required_if=[("state", "present", ["repository"])],
        supports_check_mode=True,
    )
    try:
        check_arguments(module)
        result = remove(module) if module.params["state"] == "absent" else run(module)
        while not result["finished"] and module.params["slice_seconds"] == 0:
            module.params["resume"] = result["resume"]
            result = run(module)
        module.exit_json(**result)
    except (HubError, NameRefused, ProxyRefused, SourceRefused, TransferFailed) as error:
        module.fail_json(msg=str(error))
    except OSError as error:
        module.fail_json(msg=explain(module.params["path"], error))


if __name__ == "__main__":
    main()
