# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The listing of a model, from where a task says: a hub, a file that somebody brought along, or a directory.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import time
from typing import Any, Mapping, Sequence

from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.errors import HubError
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.manifest import (
    Manifest,
    ManifestFile,
    ManifestRefused,
    read_manifest,
)
from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.names import (
    NameRefused,
    check_address,
    check_paths,
    is_commit,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.hashing import (
    Hashed,
    Hashing,
    Order,
    default_threads,
    hash_progress,
)
from ansible_collections.inferops.sglang.plugins.module_utils._target.model_tree import read_tree

# The options of a module that asks a hub; the documentation is in doc_fragments/hub.py.
HUB_ARGUMENTS: dict[str, Any] = {
    "repository": {"type": "str"},
    "revision": {"type": "str", "default": "main"},
    "endpoint": {"type": "str", "default": "https://huggingface.co"},
    "token": {"type": "str", "no_log": True},
    "proxy": {"type": "str", "no_log": True},
    "no_proxy": {"type": "str"},
    "validate_certs": {"type": "bool", "default": True},
    "ca_path": {"type": "path"},
}


class SourceRefused(Exception):  # noqa: N818  reads better where it is raised
    """Why there is no listing, as a sentence."""


def from_hub(params: Mapping[str, Any], check_access: bool = False) -> Manifest:
    """The listing at the revision that the options name; *check_access* also asks for one file of it."""
    # HTTP and TLS are a sixth of the time that a module needs to start, and most looks at a directory ask nobody.
    from ansible_collections.inferops.sglang.plugins.module_utils._core.hub.client import Hub
    from ansible_collections.inferops.sglang.plugins.module_utils._target.web import ProxyRefused, Web, proxies_of

    endpoint, token = params["endpoint"], params["token"] or ""
    if any(not character.isprintable() or character.isspace() for character in token):
        raise SourceRefused("token holds white space or an unprintable character; a token is one word such as hf_...")
    try:
        check_address("endpoint", endpoint)
        proxies = proxies_of(params["proxy"], params["no_proxy"])
        hub = Hub(Web(params["validate_certs"], params["ca_path"], proxies), endpoint, token, time.sleep)
        manifest = hub.manifest(params["repository"], hub.commit_of(params["repository"], params["revision"]))
        if check_access and manifest.files:
            hub.check_access(manifest.repository, manifest.commit, manifest.files[0])
    except (HubError, NameRefused, ProxyRefused) as error:
        raise SourceRefused(str(error)) from None
    except OSError as error:
        raise SourceRefused(f"Cannot read the certificates {params['ca_path']}: {error}") from None
    return manifest


def from_file(path: str) -> Manifest:
    """The listing in a manifest file on this host."""
    try:
        with open(path, encoding="utf-8") as stream:
            manifest = read_manifest(stream.read())
        check_paths((file.path for file in manifest.files), f"The manifest {path}")
    except OSError as error:
        raise SourceRefused(f"Cannot read the manifest {path}: {error.strerror}") from None
    except (ManifestRefused, UnicodeDecodeError) as error:
        raise SourceRefused(f"{path} is no manifest: {error}") from None
    except NameRefused as error:
        raise SourceRefused(str(error)) from None
    return manifest


def pinned_in(path: str, repository: str, revision: str) -> Manifest:
    """The listing in a manifest file, which has to be one of a commit of *repository*, and of *revision* where that is one."""
    manifest = from_file(path)
    if manifest.repository != repository or not manifest.commit:
        whose = f"of {manifest.repository}" if manifest.repository else "of no repository"
        raise SourceRefused(
            f"The manifest {path} is {whose}{'' if manifest.commit else ' and names no commit'}, and {repository} is wanted: "
            "make it with model_manifest_info from the repository"
        )
    if is_commit(revision) and revision != manifest.commit:
        raise SourceRefused(f"The manifest {path} is of the commit {manifest.commit}, and {revision} is wanted")
    return manifest


def from_directory(
    path: str, include: Sequence[str], exclude: Sequence[str], resume: Mapping[str, Any], deadline: float
) -> Manifest | dict[str, Any]:
    """The listing of what is there, every file hashed; until then *progress*, and *resume* for the next slice."""
    try:
        tree = read_tree(path)
    except OSError as error:
        raise SourceRefused(f"Cannot read the directory {path}: {error.strerror}") from None
    for file, problem in tree.problems.items():
        raise SourceRefused(f"{path} cannot be listed: {file}: {problem}")
    try:
        check_paths(tree.files, f"The directory {path}")
    except NameRefused as error:
        raise SourceRefused(str(error)) from None
    present = Manifest("", "", tuple(ManifestFile(name, found.st_size, "") for name, found in tree.files.items()))
    orders = [Order(file.path, tree.place(file.path), file.size, "sha256") for file in present.select(include, exclude)]
    kept = {name: Hashed(*values) for name, values in resume.get("hashed", {}).items()}
    kept = {name: result for name, result in kept.items() if name in tree.files and result.covers(tree.files[name])}
    hashing, begun = Hashing(orders, kept, time.monotonic), time.monotonic()
    if not hashing.run(deadline, default_threads()):
        speed = hashing.bytes / max(time.monotonic() - begun, 1e-9)
        hashed = {name: list(result) for name, result in hashing.done.items()}
        return {"progress": hash_progress(hashing.done, orders, speed), "resume": {"hashed": hashed}}
    for order in orders:
        problem = hashing.done[order.path].problem
        if problem:
            raise SourceRefused(f"{path} cannot be listed: {order.path}: {problem}")
    files = [
        ManifestFile(order.path, hashing.done[order.path].size, hashing.done[order.path].digest) for order in orders
    ]
    return Manifest("", "", tuple(sorted(files, key=lambda file: file.path)))
