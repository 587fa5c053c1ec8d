# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Python packages that are missing, torn, or built for others. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import WEAK, Remedy, Signature

SIGNATURES = (
    Signature(
        id="vision-attention-unavailable",
        title="The vision tower's attention kernel cannot be loaded",
        exception=r"Vendored FlashAttention CUTE is not available|FlashAttention-4 CUTE is not available"
        r"|module 'cutlass\.cute[\w.]*' has no attribute",
        cause="On Blackwell the vision tower uses FlashAttention 4, which needs the pinned pair flash-attn-4 and "
        "nvidia-cutlass-dsl; the installed pair does not fit together. The server's warm-up request contains an image, so "
        "even a text-only service passes through it.",
        remedies=(
            Remedy(
                "packages",
                "the flash-attn-4 and nvidia-cutlass-dsl versions that this SGLang pins",
                note="SGLang 0.5.16 and newer bring the kernels along and need the pinned nvidia-cutlass-dsl[cu13], "
                "quack-kernels and apache-tvm-ffi instead",
            ),
            Remedy("server_args", "--mm-attention-backend triton_attn", True, note="images stay possible"),
            Remedy(
                "server_args",
                "--skip-server-warmup",
                note="text-only serving only: the first image request would still kill the server",
            ),
        ),
        versions=">=0.5.10",
        reference="sgl-project/sglang#23203",
    ),
    Signature(
        id="interpreter-incomplete",
        title="The Python interpreter finds no standard library",
        exception=r"init_fs_encoding|init_import_site|No module named 'encodings'",
        cause="The venv's base interpreter is gone or of another version, or PYTHONHOME points elsewhere.",
        remedies=(
            Remedy("packages", "the base interpreter that the venv was made with"),
            Remedy("environment", "no PYTHONHOME in the unit"),
        ),
        reference="Python, Programs/python and Lib/site.py",
    ),
    Signature(
        id="binary-for-other-processor",
        title="A program is for another processor",
        exception=r"\[Errno 8\] Exec format error|invalid ELF header|wrong ELF class",
        cause="A program or library of the venv was built for another processor (x86-64, aarch64), or is damaged.",
        remedies=(Remedy("packages", "a venv that was made on this kind of machine"),),
        reference="execve(2), ENOEXEC",
    ),
    Signature(
        id="vllm-rotary-on-cpu",
        title="This build runs on no GPU without the CPU engine",
        exception=r"No module named 'vllm'",
        frames=r"rotary_embedding",
        cause="SGLang found no GPU and fell back to a code path that needs the package vllm.",
        remedies=(
            Remedy("host", "make the GPUs visible to the service (driver, CUDA_VISIBLE_DEVICES, device permissions)"),
            Remedy("environment", "SGLANG_USE_CPU_ENGINE=1", note="to serve on a CPU on purpose"),
        ),
        versions="0.5.23",
        reference="measured, SGLang 0.5.23 without a GPU",
    ),
    Signature(
        id="driver-library-missing",
        title="libcuda.so.1 is missing",
        exception=r"libcuda\.so\.1: cannot open shared object file",
        cause="The NVIDIA driver's user library is not installed, or the container was started without GPUs. The advice "
        "to reinstall sgl_kernel in the same message does not help.",
        remedies=(Remedy("host", "install the NVIDIA driver (ldconfig -p must list libcuda.so.1)"),),
        reference="measured, SGLang 0.5.23 without a driver",
    ),
    Signature(
        id="kernel-package-abi",
        title="sgl_kernel was built for another PyTorch",
        exception=r"common_ops[\s\S]*undefined symbol|undefined symbol: _ZN\w*(?:c10|at|torch)",
        cause="The binary kernels and the installed PyTorch do not fit together (undefined C++ symbol).",
        remedies=(Remedy("packages", "reinstall sglang with exactly the torch it pins; do not upgrade torch alone"),),
        reference="sgl-project/sglang#13948",
    ),
    Signature(
        id="cuda-library-missing",
        title="{library} is missing: compiled for another CUDA version",
        exception=r"(?P<library>lib(?:cudart|cublas\w*|cudnn\w*|nvrtc|cusparse\w*|cufft|curand|cusolver|nccl|nvJitLink|cupti)"
        r"\.so\.\d+): cannot open shared object file",
        cause="A package of the venv was compiled for another major version of CUDA than the installed torch brings.",
        remedies=(
            Remedy("packages", "all packages from one index and for one CUDA version (the one of torch.version.cuda)"),
            Remedy("environment", "LD_LIBRARY_PATH with the directory that holds {library}, where it is installed"),
        ),
        reference="sgl-project/sglang#13948",
    ),
    Signature(
        id="shared-library-missing",
        title="{library} is missing",
        exception=r"(?P<library>lib[\w.+-]+\.so[\w.]*): cannot open shared object file",
        cause="The system library {library} is not installed.",
        remedies=(Remedy("packages", "the system package that holds {library} (libnuma.so.1: libnuma1)", True),),
        reference="sgl-project/sglang#12119",
    ),
    Signature(
        id="tokenizer-remote-code-old",
        title="The model's own tokenizer code is older than transformers",
        exception=r"cannot import name 'bytes_to_unicode'",
        cause="The snapshot's remote code imports a function that transformers 5 moved.",
        remedies=(
            Remedy("model", "a newer revision of the model repository"),
            Remedy("host", "delete ~/.cache/huggingface/modules/transformers_modules of the service's user", True),
        ),
        reference="thinking-machines-lab/tinker-cookbook#378",
    ),
    Signature(
        id="served-model-not-importable",
        title="SGLang has no code for this model",
        exception=r"Model architectures? \[[^\]]*\] (?:are|is) not supported",
        cause="The architecture is not supported by this SGLang, or the module that implements it could not be imported "
        "(see the line 'Ignore import error when loading' of that module).",
        remedies=(Remedy("packages", "an SGLang version that supports this model, with all of its dependencies"),),
        reference="sglang/srt/models/registry.py",
    ),
    Signature(
        id="cudnn-incompatible",
        title="torch 2.9.1 and the installed cuDNN do not fit",
        exception=r"PyTorch 2\.9\.1 & CuDNN Compatibility Issue",
        cause="torch 2.9.1 with cuDNN below 9.15 computes wrong results for multimodal models; SGLang refuses it.",
        remedies=(
            Remedy("packages", "nvidia-cudnn-cu13==9.16.0.29 (cu12 where torch is built for CUDA 12)"),
            Remedy("environment", "SGLANG_DISABLE_CUDNN_CHECK=1", note="text-only serving"),
        ),
        versions="0.5.6 to 0.5.11",
        reference="ai-dynamo/dynamo#5482",
    ),
    Signature(
        id="system-library-too-old",
        title="The system's {what} is too old",
        exception=r"version `(?P<what>GLIBC|GLIBCXX|CXXABI)_[\d.]+' not found",
        cause="A compiled package was built on a newer distribution than this one, or LD_LIBRARY_PATH puts an old library in "
        "front.",
        remedies=(
            Remedy("packages", "wheels for this distribution, or a newer distribution"),
            Remedy("environment", "LD_LIBRARY_PATH without directories of other programs"),
        ),
        reference="ld.so(8), symbol versions",
    ),
    Signature(
        id="torch-extension-mismatch",
        title="torch and one of its companions do not fit",
        exception=r"operator torchvision::\w+ does not exist|Couldn't load custom C\+\+ ops",
        cause="torchvision (or torchaudio) was built for another torch.",
        remedies=(Remedy("packages", "torch, torchvision and torchaudio of one release and one index"),),
        reference="measured, torch 2.13 with a torchvision for CUDA",
    ),
    Signature(
        id="program-not-in-interpreter",
        title="The unit's Python has no module {module}",
        exception=r"finding module specification for '(?P<module>[\w.]+)'",
        line=r"(?:finding module specification for '|^\S*python[\d.]*: No module named '?)(?P<module>[\w.]+)",
        cause="ExecStart runs an interpreter in which the program is not installed: the system's Python instead of the "
        "venv's, or a venv whose links lead to another interpreter.",
        remedies=(
            Remedy("host", "the venv's own bin/python in ExecStart"),
            Remedy("packages", "sglang in that interpreter's environment"),
        ),
        reference="python -m, runpy",
    ),
    Signature(
        id="python-package-required",
        title="A Python package is missing",
        exception=r"ImportError: (?:Please install )?[\w.-]+ is (?:not installed|required)"
        r"|packages that were not found in your environment",
        cause="This model or option needs a package that the service's venv lacks.",
        remedies=(Remedy("packages", "the package that the message names, in the version that this SGLang pins"),),
        reference="transformers/dynamic_module_utils.py",
    ),
    Signature(
        id="package-damaged",
        title="A Python file of the venv is damaged",
        exception=r"^(?:SyntaxError|IndentationError|TabError): |source code string cannot contain null bytes"
        r"|bad marshal data|bad magic number in",
        cause="A file was edited, cut off while it was copied, or compiled by another Python.",
        remedies=(
            Remedy("packages", "reinstall the package in the last frame, or copy the venv again (venv_sync does)"),
        ),
        reference="Python, importlib",
    ),
    Signature(
        id="tokenizer-damaged",
        title="The tokenizer's file cannot be read",
        exception=r"PanicException|data did not match any variant of untagged enum|JSONDecodeError",
        frames=r"tokeniz",
        cause="tokenizer.json is damaged, or was written by a newer tokenizers than the installed one.",
        remedies=(
            Remedy("model", "download the tokenizer's files again (model_download checks every one)", True),
            Remedy("packages", "the tokenizers and transformers versions that this SGLang pins"),
        ),
        strength=WEAK,
        reference="huggingface/tokenizers, src/models/bpe/model.rs",
    ),
    Signature(
        id="python-module-missing",
        title="The Python module {module} is missing",
        exception=r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'",
        cause="The service's venv lacks the module {module}.",
        remedies=(Remedy("packages", "the package that provides {module}, in the version that this SGLang pins"),),
        strength=WEAK,
        reference="measured, SGLang 0.5.23",
    ),
    Signature(
        id="python-import-broken",
        title="{name} cannot be imported",
        exception=r"ImportError: cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'",
        cause="{module} is installed in a version that has no {name}: two packages of the venv do not fit together.",
        remedies=(Remedy("packages", "the version of {module}'s package that this SGLang pins"),),
        strength=WEAK,
        reference="measured, SGLang 0.5.23",
    ),
)
