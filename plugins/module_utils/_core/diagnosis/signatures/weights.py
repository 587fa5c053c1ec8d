# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights, configuration files and tokenizers.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    Remedy,
    Signature,
)

SIGNATURES = (
    Signature(
        id="weights-lfs-pointer",
        title="A weight file is a Git LFS pointer",
        exception=r"SafetensorError: Error while deserializing header: (?:header too large|HeaderTooLarge)",
        cause="A .safetensors file holds no weights: its first bytes make no header. Usually it is a Git LFS pointer, or an "
        "error page that was saved as the file.",
        remedies=(Remedy("model", "download the weight files again (model_download checks every one)", True),),
    ),
    Signature(
        id="weights-empty",
        title="A weight file is empty",
        exception=r"SafetensorError: Error while deserializing header: (?:header too small|HeaderTooSmall)",
        cause="A .safetensors file is empty or only a few bytes long.",
        remedies=(Remedy("model", "download the weight files again (model_download checks every one)", True),),
    ),
    Signature(
        id="weights-truncated",
        title="A weight file is incomplete",
        exception=r"SafetensorError: Error while deserializing header: (?:incomplete metadata|MetadataIncompleteBuffer"
        r"|invalid header length|InvalidHeaderLength|InvalidHeader)|SafetensorError: .*(?:not fully covered|Incomplete)",
        cause="A .safetensors file ends too early: its download was interrupted, or the disk was full.",
        remedies=(Remedy("model", "download the weight files again (model_download checks every one)", True),),
        reference="lyogavin/airllm#137",
    ),
    Signature(
        id="weights-missing",
        title="There are no weight files in {path}",
        exception=r"Cannot find any model weights with [`'](?P<path>[^`']+)",
        cause="The directory has a configuration but no weights: the download is not complete, or the path is wrong.",
        remedies=(Remedy("model", "download the weight files into {path}", True),),
    ),
    Signature(
        id="model-path-missing",
        title="The model path {path} does not exist",
        exception=r"Repo id must be in the form[^:]*: '(?P<path>[/.~][^']*)'",
        cause="There is no such directory on this host, so the path was taken for the name of a repository.",
        remedies=(
            Remedy("model", "put the model at {path}, or correct model-path"),
            Remedy("host", "RequiresMountsFor={path} in the unit, where it lies on a mount", True),
        ),
    ),
    Signature(
        id="hub-access-denied",
        title="The model repository is gated",
        exception=r"GatedRepoError|You are trying to access a gated repo|40[13] Client Error",
        cause="The model is loaded from the hub and no valid token reached the service (401), or its owner has not been "
        "granted access (403).",
        remedies=(
            Remedy("model", "download the model before the start and serve its local path"),
            Remedy("environment", "HF_TOKEN in an EnvironmentFile with mode 0600"),
        ),
        reference="sgl-project/sglang#387",
    ),
    Signature(
        id="remote-code-not-trusted",
        title="The model needs its own code",
        exception=r"contains custom code which must be executed|trust_remote_code=True",
        cause="The repository brings Python code that must run to load the model, and the service was not allowed to.",
        remedies=(Remedy("server_args", "--trust-remote-code", note="after reading that code"),),
    ),
    Signature(
        id="model-type-unknown",
        title="transformers does not know this model type",
        exception=r"model type `?(?P<type>[\w.-]+)`? but Transformers does not recognize|Unrecognized model in",
        cause="config.json names a model type that the installed transformers does not have.",
        remedies=(
            Remedy("packages", "the transformers version that this SGLang pins"),
            Remedy("server_args", "--trust-remote-code, where the repository brings its own code"),
        ),
    ),
    Signature(
        id="config-invalid",
        title="The model's config.json is invalid",
        exception=r"hidden size \(\d+\) is not a multiple of the number of attention heads|Class validation error for"
        r"|StrictDataclass\w*ValidationError",
        cause="config.json contradicts itself.",
        remedies=(Remedy("model", "download config.json again, or undo the local change"),),
    ),
    Signature(
        id="tokenizer-files-missing",
        title="The tokenizer's files are missing",
        exception=r"Can't load tokenizer for|Couldn't instantiate the backend tokenizer|tokenizer\.json.*No such file",
        cause="The model directory lacks tokenizer files.",
        remedies=(Remedy("model", "download the tokenizer's files too"),),
    ),
    Signature(
        id="tensor-shape-mismatch",
        title="A weight has another shape than the model",
        exception=r"size mismatch for|shape mismatch.*param|assert param.*(?:size|shape)\(?\)? == loaded_weight",
        cause="The weights do not belong to this config.json, or the quantization setting does not fit them.",
        remedies=(Remedy("model", "config.json and weights of one revision; check --quantization"),),
    ),
)
