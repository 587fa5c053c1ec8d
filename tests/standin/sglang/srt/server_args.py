# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The command line of SGLang 0.5.23, as far as deployments use it: the same kinds of option, the same `--config` rules.

Kinds and rules were read from the real 0.5.23: valued options, `store_true` flags that never take a value,
`--x/--no-x` pairs, `nargs=+` lists, JSON strings, and `--config FILE` whose keys are hyphenated, lose against the
command line, and may not name a `--x/--no-x` pair.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

ATTENTION = (
    "triton", "torch_native", "flex_attention", "dsa", "cutlass_mla", "fa3", "fa4", "flashinfer", "flashmla",
    "trtllm_mla", "trtllm_mha", "cutedsl_mla", "dual_chunk_flash_attn", "aiter", "wave", "intel_amx", "ascend",
)  # fmt: skip
MOE_RUNNERS = (
    "auto", "deep_gemm", "triton", "triton_kernel", "flashinfer_trtllm", "flashinfer_trtllm_routed",
    "flashinfer_cutlass", "flashinfer_mxfp4", "flashinfer_cutedsl", "cutlass", "aiter", "marlin",
)  # fmt: skip
MM_ATTENTION = ("sdpa", "fa3", "fa4", "triton_attn", "ascend_attn", "aiter_attn", "flashinfer_cudnn")
GRAMMAR = ("xgrammar", "outlines", "llguidance", "none")
LOAD_FORMATS = ("auto", "pt", "safetensors", "instanttensor", "dummy", "presharded", "gguf", "runai_streamer")
DTYPES = ("auto", "half", "float16", "bfloat16", "float", "float32")


def human_int(text: str) -> int:
    """Turn `128k`, `1M` or `4096` into a number."""
    factors = {"k": 1000, "m": 1000**2, "g": 1000**3, "K": 1024, "M": 1024**2, "G": 1024**3}
    return int(float(text[:-1]) * factors[text[-1]]) if text[-1:] in factors else int(text)


class ServerArgs:
    """Holds the parsed arguments as attributes, like the real class."""

    def __init__(self, namespace: argparse.Namespace) -> None:
        """Take every parsed value over."""
        self.__dict__.update(vars(namespace))

    @staticmethod
    def add_cli_args(parser: argparse.ArgumentParser) -> None:
        """Add every option to `parser`, in the real one's kinds."""
        add = parser.add_argument
        add("--model-path", "--model", type=str, required=True)
        for name in (
            "--tokenizer-path", "--revision", "--host", "--served-model-name", "--chat-template", "--quantization",
            "--api-key", "--admin-api-key", "--kv-cache-dtype", "--device", "--reasoning-parser", "--tool-call-parser",
            "--speculative-algorithm", "--speculative-draft-model-revision", "--speculative-draft-attention-backend",
            "--speculative-moe-runner-backend", "--log-level", "--log-level-http", "--warmups", "--ssl-certfile",
            "--ssl-keyfile", "--crash-dump-folder", "--download-dir", "--json-model-override-args",
            "--model-loader-extra-config", "--mm-process-config", "--limit-mm-data-per-request",
            "--default-chat-template-kwargs", "--cuda-graph-config",
        ):  # fmt: skip
            add(name, type=str)
        add("--speculative-draft-model-path", "--speculative-draft-model", type=str)
        add("--dist-init-addr", "--nccl-init-addr", type=str)
        for name in (
            "--port", "--tp-size", "--pp-size", "--dp-size", "--attn-dp-size", "--nnodes", "--node-rank",
            "--max-running-requests", "--max-total-tokens", "--max-prefill-tokens", "--page-size",
            "--cuda-graph-max-bs-decode", "--speculative-num-steps", "--speculative-eagle-topk",
            "--speculative-num-draft-tokens", "--speculative-dflash-block-size", "--speculative-draft-window-size",
            "--stream-interval", "--random-seed", "--dist-timeout", "--tokenizer-worker-num",
        ):  # fmt: skip
            add(name, type=int)
        add("--ep-size", "--ep", type=int)
        for name in ("--context-length", "--chunked-prefill-size"):
            add(name, type=human_int)
        for name in ("--mem-fraction-static", "--watchdog-timeout", "--soft-watchdog-timeout"):
            add(name, type=float)
        add("--attention-backend", "--decode-attention-backend", choices=ATTENTION)
        add("--mm-attention-backend", choices=MM_ATTENTION)
        add("--moe-runner-backend", choices=MOE_RUNNERS)
        add("--grammar-backend", choices=GRAMMAR)
        add("--sampling-backend", choices=("flashinfer", "pytorch", "ascend"))
        add("--load-format", choices=LOAD_FORMATS)
        add("--dtype", choices=DTYPES)
        add("--tokenizer-mode", choices=("auto", "slow"))
        add("--cuda-graph-bs-decode", type=int, nargs="+")
        add("--lora-paths", type=str, nargs="*")
        for name in (
            "--trust-remote-code", "--skip-server-warmup", "--skip-tokenizer-init", "--disable-radix-cache",
            "--disable-cuda-graph", "--disable-overlap-schedule", "--disable-flashinfer-autotune", "--enable-metrics",
            "--enable-multimodal", "--enable-dp-attention", "--enable-dp-lm-head", "--enable-http2", "--language-only",
            "--language-model-only", "--log-requests", "--is-embedding", "--incremental-streaming-output",
            "--disable-custom-all-reduce", "--enable-torch-compile", "--speculative-use-rejection-sampling",
            "--enable-hierarchical-cache",
        ):  # fmt: skip
            add(name, action="store_true")
        for name in (
            "--enable-tf32-matmul", "--mm-enable-dp-encoder", "--enable-fused-qk-norm-rope", "--dcp-replicate-q-proj",
            "--lora-strict-loading",
        ):  # fmt: skip
            add(name, action=argparse.BooleanOptionalAction)
        add("--config", type=str)
        parser.set_defaults(
            host="127.0.0.1", port=30000, tp_size=1, pp_size=1, dp_size=1, ep_size=1, nnodes=1, node_rank=0,
            log_level="info", watchdog_timeout=300.0, grammar_backend="xgrammar", dtype="auto", load_format="auto",
        )  # fmt: skip


def read_config(path: str) -> dict[str, Any]:
    """Read a flat YAML file, one `key: <JSON or plain scalar>` a line, or a JSON object. Comments are skipped."""
    if not path.endswith((".yaml", ".yml")):
        raise ValueError(f"Config file must be YAML format, got: {path}")
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    if text.lstrip().startswith("{"):
        return dict(json.loads(text))
    values: dict[str, Any] = {}
    for line in text.splitlines():
        if not line.strip() or line.lstrip().startswith("#") or line.strip() in ("---", "..."):
            continue
        key, separator, raw = line.partition(":")
        if not separator or line[0].isspace():
            raise ValueError(f"Config file {path} is not a flat mapping: {line!r}")
        values[key.strip().strip("\"'")] = _scalar(raw.strip())
    return values


def _scalar(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return {"": None, "~": None, "True": True, "False": False}.get(raw, raw.strip("'"))


def config_to_argv(parser: argparse.ArgumentParser, config: dict[str, Any]) -> list[str]:
    """Turn the file's mapping into arguments as the real merger does."""
    actions = {option: action for action in parser._actions for option in action.option_strings}
    argv: list[str] = []
    for key, value in config.items():
        option = "--" + key
        action = actions.get(option)
        if isinstance(action, argparse.BooleanOptionalAction):
            raise ValueError(f"Unsupported config option '{key}' with action '{type(action).__name__}'")
        if isinstance(value, bool):
            argv += [option] if value else []
        elif isinstance(value, list):
            argv += [option, *[str(item) for item in value]]
        elif isinstance(value, dict):
            argv += [option, json.dumps(value)]
        elif value is not None:
            argv += [option, str(value)]
    return argv


def prepare_server_args(argv: list[str]) -> ServerArgs:
    """Merge `--config` (before the command line, so the command line wins) and parse."""
    parser = argparse.ArgumentParser(prog="sglang serve")
    ServerArgs.add_cli_args(parser)
    if "--config" in argv:  # `--config=FILE` is not recognised by the real merger either
        at = argv.index("--config")
        if at + 1 >= len(argv):
            raise ValueError("No config file specified after --config flag!")
        argv = config_to_argv(parser, read_config(argv[at + 1])) + argv[:at] + argv[at + 2 :]
    namespace = parser.parse_args(argv)
    namespace.tokenizer_path = namespace.tokenizer_path or namespace.model_path
    namespace.served_model_name = namespace.served_model_name or namespace.model_path
    namespace.merged_argv = argv
    return ServerArgs(namespace)
