# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights, configuration files and tokenizers. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import WEAK, Remedy, Signature

SIGNATURES = (
    Signature(
        id="weights-lfs-pointer",
        title="A weight file is a Git LFS pointer",
        exception=r"SafetensorError: Error while deserializing header: (?:header too large|HeaderTooLarge)",
        cause="A .safetensors file holds no weights: its first bytes make no header. Usually it is a Git LFS pointer, or an "
        "error page that was saved as the file.",
        remedies=(Remedy("model", "download the weight files again (model_download checks every one)", True),),
        reference="measured, SGLang 0.5.23",
    ),
    Signature(
        id="weights-empty",
        title="A weight file is empty",
        exception=r"SafetensorError: Error while deserializing header: (?:header too small|HeaderTooSmall)",
        cause="A .safetensors file is empty or only a few bytes long.",
        remedies=(Remedy("model", "download the weight files again (model_download checks every one)", True),),
        reference="measured, SGLang 0.5.23",
    ),
    Signature(
        id="weights-truncated",
        title="A weight file is incomplete",
        exception=r"SafetensorError: Error while deserializing header: (?:incomplete metadata|MetadataIncompleteBuffer"
        r"|invalid header length|InvalidHeaderLength)|SafetensorError: .*(?:not fully covered|Incomplete)",
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
        reference="sglang/srt/model_loader/loader.py",
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
        reference="measured, SGLang 0.5.23",
    ),
    Signature(
        id="hub-unreachable",
        title="The model is not on this host and the hub is not reached",
        exception=r"offline mode is enabled|We couldn't connect to 'https?://|LocalEntryNotFoundError"
        r"|outgoing traffic has been disabled|Failed to resolve '(?:huggingface\.co|hf-mirror)",
        cause="The model path names a repository of the hub, its files are not in the service's cache, and the hub cannot be "
        "reached (HF_HUB_OFFLINE=1, a firewall, no proxy).",
        remedies=(
            Remedy("model", "download the model before the start and serve its local path"),
            Remedy("environment", "HF_HOME with the cache that holds the model (systemd reads no shell profile)"),
            Remedy("environment", "HTTPS_PROXY, with NO_PROXY=127.0.0.1,localhost"),
        ),
        reference="huggingface_hub/errors.py",
    ),
    Signature(
        id="hub-not-found",
        title="The hub has no such model, revision or file",
        exception=r"RepositoryNotFoundError|RevisionNotFoundError|RemoteEntryNotFoundError|404 Client Error",
        cause="The repository or its revision does not exist, or it is private and the token does not open it.",
        remedies=(
            Remedy("model", "the right repository and revision, or a local path"),
            Remedy("environment", "HF_TOKEN in an EnvironmentFile with mode 0600"),
        ),
        reference="huggingface_hub/errors.py",
    ),
    Signature(
        id="hub-rate-limited",
        title="The hub refuses more requests for now",
        exception=r"429 Client Error|Too Many Requests",
        cause="Too many requests came from this address or without a token, for instance from all ranks at once.",
        remedies=(
            Remedy("model", "download the model before the start and serve its local path"),
            Remedy("environment", "HF_TOKEN in an EnvironmentFile with mode 0600"),
        ),
        reference="huggingface_hub/utils/_http.py",
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
        reference="measured, SGLang 0.5.23",
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
        reference="measured, SGLang 0.5.23",
    ),
    Signature(
        id="config-not-json",
        title="{path} is no valid JSON",
        exception=r"config file at '(?P<path>[^']+)' is not a valid JSON file",
        cause="The file was cut off while it was downloaded, or edited by hand.",
        remedies=(Remedy("model", "download {path} again, or undo the local change", True),),
        reference="transformers/configuration_utils.py",
    ),
    Signature(
        id="config-invalid",
        title="The model's config.json is invalid",
        exception=r"hidden size \(\d+\) is not a multiple of the number of attention heads|Class validation error for"
        r"|StrictDataclass\w*ValidationError",
        cause="config.json contradicts itself.",
        remedies=(Remedy("model", "download config.json again, or undo the local change"),),
        reference="transformers/configuration_utils.py",
    ),
    Signature(
        id="tokenizer-files-missing",
        title="The tokenizer's files are missing",
        exception=r"Can't load tokenizer for|Couldn't instantiate the backend tokenizer|tokenizer\.json.*No such file",
        cause="The model directory lacks tokenizer files.",
        remedies=(Remedy("model", "download the tokenizer's files too"),),
        reference="measured, SGLang 0.5.23",
    ),
    Signature(
        id="weights-format-unknown",
        title="This safetensors does not know the data type {dtype}",
        exception=r"SafetensorError: Error while deserializing header: .*unknown variant `(?P<dtype>[A-Z][A-Z0-9_]*)`",
        cause="The weights use a data type that is younger than the installed safetensors package (F4, F6 and F8 types came "
        "late). The file itself is most likely right, so downloading it again changes nothing.",
        remedies=(
            Remedy("packages", "a newer safetensors in the venv, one that knows {dtype}"),
            Remedy(
                "model",
                "safetensors_info on the file, where a newer package knows no {dtype} either: then it is damaged",
            ),
        ),
        reference="safetensors, SafetensorError::InvalidHeaderDeserialization",
    ),
    Signature(
        id="weights-corrupt",
        title="A weight file is damaged",
        exception=r"SafetensorError|PytorchStreamReader failed|invalid load key, '",
        cause="The file is no valid weight file: its download was damaged or something else was saved under its name.",
        remedies=(Remedy("model", "download the weight files again (model_download checks every one)", True),),
        reference="safetensors, SafetensorError",
    ),
    Signature(
        id="weights-file-missing",
        title="A weight file is missing: {path}",
        exception=r"No such file or directory:? [\"'](?P<path>[^\"']+\.(?:safetensors|bin|pt|gguf))[\"']",
        cause="The index names a file that is not there: the download is not complete, or a link of the cache is broken.",
        remedies=(Remedy("model", "download the missing files (model_download checks every one)", True),),
        reference="sglang/srt/model_loader/weight_utils.py",
    ),
    Signature(
        id="weight-unknown",
        title="The checkpoint's {name} has no place in the model",
        exception=r"(?:KeyError: '(?=[\w.]+\.\w*(?:weight|bias|scale|zero|g_idx)\w*')|no module or parameter named ')"
        r"(?P<name>[^']+)'",
        cause="Weights and model code do not fit together: a quantization that this code does not expect, weights of another "
        "revision than config.json, or an SGLang older than the checkpoint.",
        remedies=(
            Remedy("packages", "an SGLang version that supports this checkpoint"),
            Remedy("model", "config.json and weights of one revision; another quantization of the model"),
        ),
        reference="sgl-project/sglang#10175",
    ),
    Signature(
        id="weight-does-not-fit",
        title="A weight does not fit into the model",
        exception=r"^AssertionError\b|The size of tensor a \(\d+\) must match|must match the existing size"
        r"|Attempted to load weight \(torch\.Size",
        frames=r"weight_loader|load_weights|_load_w\d|_load_\w*weight",
        cause="A weight of the checkpoint has another shape than the model that config.json and the tensor-parallel size make.",
        remedies=(
            Remedy("model", "config.json and weights of one revision; check --quantization"),
            Remedy("server_args", "a --tp-size that divides the model's layers (quantized ones by their groups)"),
        ),
        strength=WEAK,
        reference="sglang/srt/layers/linear.py, weight_loader",
    ),
    Signature(
        id="tensor-shape-mismatch",
        title="A weight has another shape than the model",
        exception=r"size mismatch for|shape mismatch.*param|assert param.*(?:size|shape)\(?\)? == loaded_weight",
        cause="The weights do not belong to this config.json, or the quantization setting does not fit them.",
        remedies=(Remedy("model", "config.json and weights of one revision; check --quantization"),),
        reference="torch/nn/modules/module.py, load_state_dict",
    ),
)
