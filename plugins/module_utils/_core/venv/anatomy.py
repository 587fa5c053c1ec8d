# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What kind of venv stands in a directory, read from its files alone: it need not be able to start.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import glob
import json
import os
import re
from typing import NamedTuple

LIST_LIMIT = 20


class Anatomy(NamedTuple):
    """The parts of a venv that depend on the host it stands on.

    *base_link* is the first link out of the venv (``/usr/bin/python3``), which is what has to exist on another
    host; *base_python* is the file behind it here (``/usr/bin/python3.11``). *version* is what pyvenv.cfg
    claims. The lists are cut off at 20 names.
    """

    exists: bool
    python: str
    base_link: str
    base_python: str
    version: str
    packages: int
    editable: list[str]
    outside_links: list[str]
    outside_paths: list[str]


def read(path: str) -> Anatomy:
    """Look at the venv in directory *path*. Without a ``pyvenv.cfg`` there is none."""
    python = os.path.join(path, "bin", "python")
    config = parse_config(os.path.join(path, "pyvenv.cfg"))
    if not config:
        return Anatomy(False, python, "", "", "", 0, [], [], [])
    version = config.get("version", config.get("version_info", ""))
    base_link = first_link_outside(python, path)
    if not base_link and config.get("home"):  # made with --copies: the interpreter is a file of the venv
        base_link = os.path.join(config["home"], "python" + ".".join(version.split(".")[:2]))
    site = glob.glob(os.path.join(glob.escape(path), "lib", "python*", "site-packages"))
    return Anatomy(
        True,
        python,
        base_link,
        os.path.realpath(base_link) if base_link else "",
        version,
        sum(len(glob.glob(os.path.join(glob.escape(item), "*.dist-info"))) for item in site),
        [name for item in site for name in editable_installs(item)][:LIST_LIMIT],
        links_outside(os.path.join(path, "bin"), path, base_link)[:LIST_LIMIT],
        [line for item in site for line in paths_outside(item, path)][:LIST_LIMIT],
    )


def parse_config(path: str) -> dict[str, str]:
    """The keys of a pyvenv.cfg, in lower case; nothing if there is no such file."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            pairs = [line.partition("=") for line in stream if "=" in line]
    except OSError:
        return {}
    return {key.strip().lower(): value.strip() for key, _equals, value in pairs}


def first_link_outside(link: str, root: str) -> str:
    """Follow *link* step by step and return the first target outside *root*, or nothing if it stays inside."""
    prefix = os.path.abspath(root) + os.sep
    current = os.path.abspath(link)
    for _step in range(40):
        if not os.path.islink(current):
            return ""
        current = os.path.normpath(os.path.join(os.path.dirname(current), os.readlink(current)))
        if not current.startswith(prefix):
            return current
    return ""


def links_outside(directory: str, root: str, base_link: str) -> list[str]:
    """Links in *directory* that leave the venv for anything but its interpreter, as ``name -> target``."""
    found = []
    for name in _names(directory):
        target = first_link_outside(os.path.join(directory, name), root)
        if target and target != base_link and os.path.dirname(target) != os.path.dirname(base_link):
            found.append(f"{name} -> {target}")
    return found


def editable_installs(site: str) -> list[str]:
    """Distributions whose code stands in a source tree outside, as ``name (directory)``."""
    found = []
    for name in _names(site):
        if name.endswith(".dist-info"):
            url = _direct_url(os.path.join(site, name, "direct_url.json"))
            if url:
                found.append(f"{name[: -len('.dist-info')]} ({url})")
        elif name.endswith(".egg-link"):
            found.append(f"{name[: -len('.egg-link')]} (egg-link)")
    return found


def paths_outside(site: str, root: str) -> list[str]:
    """Lines of ``.pth`` files that put a directory outside the venv on Python's path, as ``file: line``."""
    prefix = os.path.abspath(root) + os.sep
    found = []
    for name in _names(site):
        if not name.endswith(".pth"):
            continue
        with open(os.path.join(site, name), encoding="utf-8", errors="replace") as stream:
            for line in stream.read().splitlines():
                if line.startswith("/") and not (os.path.normpath(line) + os.sep).startswith(prefix):
                    found.append(f"{name}: {line.strip()}")
    return found


def header_package(base_python: str) -> str:
    """The Debian package with the headers of *base_python*; nothing if it is not the distribution's own."""
    match = re.fullmatch(r"/usr/bin/(python3\.\d+)", base_python)
    return f"{match.group(1)}-dev" if match else ""


def _direct_url(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            document = json.load(stream)
    except (OSError, ValueError):
        return ""
    if not document.get("dir_info", {}).get("editable"):
        return ""
    url = str(document.get("url", ""))
    return url[len("file://") :] if url.startswith("file://") else url


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
