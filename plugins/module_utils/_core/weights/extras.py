# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that do not belong to a model and that a program would load all the same.

SGLang (srt/model_loader/loader.py, DefaultModelLoader._prepare_weights) takes every *.safetensors of the directory,
or where there is none every *.bin, then every *.pt; an index beside them makes it drop what the index does not name.
Other readers have no such filter (mlx-vlm PR 1464).

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import Iterable, NamedTuple

# What this collection, the hub's client and version control keep beside the files of a model.
STATE_DIRECTORY = ".model_download"
PRIVATE_DIRECTORIES = (STATE_DIRECTORY, ".cache", ".git")
UNFINISHED_DIRECTORY = ".partial-"

# The first pattern that fits decides. They are matched against the file name: readers look in one directory.
_LOADED = (
    ("*.safetensors", "weights"),
    ("consolidated*.pth", "weights"),
    ("*.bin", "weights"),
    ("*.pt", "weights"),
    ("*.pth", "weights"),
    ("*.gguf", "weights"),
    ("*.safetensors.index.json", "index"),
    ("*.bin.index.json", "index"),
    ("adapter_config.json", "configuration"),
    ("config.json", "configuration"),
    ("params.json", "configuration"),
    ("generation_config.json", "configuration"),
    ("*quant*config*.json", "configuration"),
    ("preprocessor_config.json", "configuration"),
    ("processor_config.json", "configuration"),
    ("tokenizer*", "tokenizer"),
    ("tekken.json", "tokenizer"),
    ("*.tiktoken", "tokenizer"),
    ("special_tokens_map.json", "tokenizer"),
    ("added_tokens.json", "tokenizer"),
    ("vocab.*", "tokenizer"),
    ("merges.txt", "tokenizer"),
    ("chat_template*", "tokenizer"),
    ("*.py", "code"),
)
_WHY = {
    "weights": "a reader that takes every file of this kind loads it as well",
    "index": "it decides which weights are loaded",
    "configuration": "it changes how the model is loaded",
    "tokenizer": "it changes what the model reads and writes",
    "code": "it runs where remote code is trusted",
}
# What is no weight although its name says so: leftovers of training, which readers skip.
_NOT_WEIGHTS = ("training_args.bin", "optimizer.bin", "optimizer.pt", "scheduler.pt", "scaler.pt")


@dataclass(frozen=True)
class Extra:
    """*kind* is what the file would be taken for."""

    path: str
    kind: str

    @property
    def message(self) -> str:
        return f"it does not belong to the model, and {_WHY[self.kind]}"


def kind_of_file(path: str) -> str | None:
    """What programs take a file of this name for; None where nobody loads it."""
    name = path.rpartition("/")[2]
    if name.startswith(".") or name in _NOT_WEIGHTS:
        return None
    return next((kind for pattern, kind in _LOADED if fnmatch.fnmatchcase(name, pattern)), None)


def is_private(path: str) -> bool:
    """Whether *path* is kept there by a tool, and is no part of a model."""
    root = path.partition("/")[0]
    return root in PRIVATE_DIRECTORIES or root.startswith(UNFINISHED_DIRECTORY)


def extra_files(present: Iterable[str], listed: Iterable[str]) -> list[Extra]:
    """The files among *present* that no list names and that would be loaded, by directories a reader looks into.

    Those are the ones that hold a listed file. Paths are relative to the model's directory.
    """
    known = set(listed)
    folders = {path.rpartition("/")[0] for path in known} | {""}
    found = []
    for path in sorted(present):
        kind = kind_of_file(path)
        if kind and path not in known and not is_private(path) and path.rpartition("/")[0] in folders:
            found.append(Extra(path, kind))
    return found


class Rest(NamedTuple):
    """What an interrupted transfer left of the file *target*."""

    target: str
    message: str


_UNFINISHED = {
    ".aria2": "aria2 has not finished {}",
    ".incomplete": "the hub's client has not finished {}",
    ".part": "a download has not finished {}",
    ".crdownload": "a download has not finished {}",
}


def unfinished(path: str) -> Rest | None:
    """What *path* is the rest of, where only an interrupted transfer leaves a file of such a name."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    message = _UNFINISHED.get(dot + ending)
    # rsync writes .name.XXXXXX beside the target, six letters and digits.
    if message is None and stem.startswith(".") and "." in stem[1:] and len(ending) == 6 and ending.isalnum():
        stem, message = stem[1:], "rsync has not finished {}"
    return Rest(folder + slash + stem, message.format(stem)) if message else None
