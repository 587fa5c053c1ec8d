# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments and combinations that this SGLang does not accept. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import WEAK, Remedy, Signature

SIGNATURES = (
    Signature(
        id="arguments-unrecognized",
        title="SGLang does not know the argument {argument}",
        exception=r"unrecognized arguments: (?P<argument>.+)",
        line=r"error: unrecognized arguments: (?P<argument>.+)",
        cause="The installed version has no such option: it was renamed, removed, belongs to another engine, or is spelled "
        "with underscores.",
        remedies=(Remedy("server_args", "remove or rename {argument}"),),
        reference="sgl-project/sglang#4116",
    ),
    Signature(
        id="arguments-invalid-choice",
        title="{argument} does not accept {value}",
        exception=r"argument (?P<argument>[^:]+): invalid choice: (?P<value>'[^']*'|\S+)",
        line=r"error: argument (?P<argument>[^:]+): invalid choice: (?P<value>'[^']*'|\S+)",
        cause="The installed version offers other values; the log line lists them.",
        remedies=(Remedy("server_args", "one of the listed values for {argument}"),),
        reference="intel/llm-scaler#403",
    ),
    Signature(
        id="arguments-rejected",
        title="SGLang rejected its arguments",
        exception=r"ArgumentError: (?P<what>.+)",
        cause="{what}.",
        remedies=(Remedy("server_args", "correct the argument that the message names"),),
        reference="argparse.ArgumentParser.error",
    ),
    Signature(
        id="config-file-option",
        title="The configuration file may not hold {option}",
        exception=r"Unsupported config option '(?P<option>[^']+)'",
        cause="Options that exist as --x and --no-x cannot be set in the configuration file, only on the command line.",
        remedies=(Remedy("server_args", "give --{option} on the command line"),),
        reference="sglang/srt/utils/server_args_config_parser.py",
    ),
    Signature(
        id="speculative-algorithm-unknown",
        title="This SGLang has no speculative algorithm {name}",
        exception=r"Unknown speculative algorithm name: (?P<name>\w+)",
        cause="{name} is in no released SGLang or not in the installed one; it needs a fork or a plugin that registers it.",
        remedies=(
            Remedy("server_args", "--speculative-algorithm DFLASH"),
            Remedy("packages", "the fork that provides {name}"),
        ),
        reference="sgl-project/sglang#29907",
    ),
    Signature(
        id="speculative-unsupported-platform",
        title="{name} does not run on this platform",
        exception=r"ValueError: (?P<name>\w+) speculative decoding is not supported by",
        cause="{name} speculative decoding needs CUDA; the server found no GPU.",
        remedies=(Remedy("host", "make the GPUs visible to the service"), Remedy("server_args", "no speculation")),
        reference="sglang/srt/arg_groups/speculative_hook.py",
    ),
    Signature(
        id="draft-model-missing",
        title="The draft model is not named",
        exception=r"requires? (?:setting )?--speculative-draft-model-path|DFLASH requires .*draft",
        cause="The speculative algorithm needs a draft model.",
        remedies=(Remedy("server_args", "--speculative-draft-model-path with the draft's directory"),),
        reference="sglang/srt/arg_groups/speculative_hook.py",
    ),
    Signature(
        id="json-argument-invalid",
        title="An argument is not valid JSON",
        exception=r"JSONDecodeError",
        frames=r"model_config|server_args|arg_groups",
        cause="--json-model-override-args (or another JSON option) is broken, most often by systemd's quoting.",
        remedies=(Remedy("server_args", "give the option through the configuration file (sglang_service does)"),),
        reference="systemd.syntax(7), quoting",
    ),
    Signature(
        id="quantization-mismatch",
        title="The checkpoint is quantized in another way than --quantization says",
        exception=r"specified in the model config \((?P<model>[^)]*)\) does not match the quantization method specified in "
        r"the .?quantization.? argument \((?P<asked>[^)]*)\)",
        cause="The checkpoint's config says {model}, the argument {asked}.",
        remedies=(Remedy("server_args", "no --quantization", note="then the checkpoint's own is taken"),),
        reference="sglang/srt/configs/model_config.py",
    ),
    Signature(
        id="quantization-unknown",
        title="This SGLang does not know the quantization {name}",
        exception=r"(?:Unknown|Invalid) quantization method: (?P<name>[\w-]+)",
        cause="The checkpoint's config or --quantization names a method that the installed version does not have.",
        remedies=(Remedy("packages", "an SGLang version that supports it"), Remedy("model", "another quantization")),
        reference="sglang/srt/layers/quantization/__init__.py",
    ),
    Signature(
        id="chat-template-missing",
        title="The chat template {name} is neither built in nor a file",
        exception=r"Chat template (?P<name>\S+) is not a built-in template name or a valid chat template file path",
        cause="--chat-template names a file that does not exist on this host, or that the service's user cannot read.",
        remedies=(
            Remedy("server_args", "--chat-template with a path on this host"),
            Remedy("server_args", "no --chat-template", note="then the model's own is taken"),
        ),
        reference="sglang/srt/managers/template_manager.py",
    ),
    Signature(
        id="context-length-too-long",
        title="The context length is above the model's",
        exception=r"User-specified (?:context_length|max_model_len) \((?P<asked>\d+)\) is greater than the derived "
        r"(?:context_length|max_model_len) \((?P<model>\d+)\)",
        cause="{asked} tokens were asked for, the model is made for {model}.",
        remedies=(
            Remedy("server_args", "--context-length {model}"),
            Remedy("environment", "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1", note="answers may be wrong"),
        ),
        reference="sglang/srt/configs/model_config.py",
    ),
    Signature(
        id="tensor-parallel-size",
        title="The tensor-parallel size does not divide the model",
        exception=r"\b(?P<a>\d+) is not divisible by (?P<b>\d+)|must be divisible by tensor parallel size"
        r"|(?:tp_size|world_size|attn_tp_size|heads|vocab_size|nnodes)[^\n]{0,60}divisible by",
        cause="Heads, vocabulary or layers cannot be split evenly over the ranks.",
        remedies=(Remedy("server_args", "a --tp-size that divides the number of attention heads (Kimi K2.x: 64)"),),
        reference="sgl-project/sglang#3436",
    ),
    Signature(
        id="speculation-with-torch-native",
        title="Speculative decoding does not work with torch_native attention",
        exception=r"'NoneType' object has no attribute 'shape'",
        frames=r"torch_native_backend",
        cause="The combination is not rejected at the start and fails at the first request.",
        remedies=(Remedy("server_args", "another --attention-backend, or no speculation"),),
        reference="sgl-project/sglang#36352",
    ),
    Signature(
        id="draft-model-mismatch",
        title="The draft model does not fit the target model",
        exception=r"mat1 and mat2 shapes cannot be multiplied|size mismatch for",
        frames=r"speculative/|dflash|eagle|draft",
        cause="The draft was trained for a target with another width or another choice of layers.",
        remedies=(
            Remedy("model", "the draft model that was made for exactly this target"),
            Remedy("server_args", "no --speculative-algorithm"),
        ),
        strength=WEAK,
        reference="sglang/srt/speculative",
    ),
    Signature(
        id="tls-files",
        title="The certificate or its key cannot be read",
        exception=r"FileNotFoundError|PermissionError|SSLError|ssl\.\w+",
        frames=r"create_ssl_context|load_cert_chain",
        cause="--ssl-certfile or --ssl-keyfile names a file that is not there, that the service's user may not read, or that "
        "does not belong to the other.",
        remedies=(
            Remedy("server_args", "--ssl-certfile and --ssl-keyfile with files that the service's user can read"),
        ),
        reference="uvicorn/config.py, create_ssl_context",
    ),
    Signature(
        id="adapter-missing",
        title="A LoRA adapter cannot be loaded",
        exception=r"adapter_config\.json|Failed to load LoRA adapter|Can't find '?adapter_config",
        cause="--lora-paths names a directory without an adapter, or one for another model.",
        remedies=(Remedy("server_args", "--lora-paths with directories that hold adapter_config.json"),),
        reference="sglang/srt/lora/lora_config.py",
    ),
    Signature(
        id="dflash-with-disaggregation",
        title="DFLASH does not work with prefill/decode disaggregation",
        exception=r"'NoneType' object has no attribute 'prepare_for_decode'",
        line=r"AttributeError: 'NoneType' object has no attribute 'prepare_for_decode'",
        cause="These versions have no DFLASH support in disaggregated serving; the server hangs until its watchdog ends it.",
        remedies=(Remedy("server_args", "no --disaggregation-mode, or another --speculative-algorithm"),),
        versions="0.5.16 to 0.5.18",
        reference="sgl-project/sglang#36140",
    ),
    Signature(
        id="draft-attention-backend",
        title="The draft model cannot use the target's attention backend",
        exception=r"trtllm_mla[\s\S]*draft|draft[\s\S]*trtllm_mla",
        cause="The draft inherits trtllm_mla from the target and has no MLA.",
        remedies=(Remedy("server_args", "--speculative-draft-attention-backend trtllm_mha", True),),
        reference="sgl-project/sglang#23490",
    ),
)

# Asked last of all: what any of SGLang's own checks of its arguments refuses, where nothing knows it better.
FALLBACK = (
    Signature(
        id="arguments-refused",
        title="SGLang refuses this combination of arguments",
        exception=r"^(?:ValueError|AssertionError|NotImplementedError): (?P<what>.+)",
        frames=r"(?:server_args|arg_groups/\w+)\.py[^\n]*\Z",
        cause="{what}",
        remedies=(Remedy("server_args", "change what the message names"),),
        strength=WEAK,
        reference="sglang/srt/server_args.py",
    ),
)
