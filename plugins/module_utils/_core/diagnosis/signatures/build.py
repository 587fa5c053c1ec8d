# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Failures of compiling at run time: headers, compilers, ptxas, stale caches. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import WEAK, Remedy, Signature

SIGNATURES = (
    Signature(
        id="python-headers-missing",
        title="Python.h is missing",
        line=r"fatal error: Python\.h: No such file",
        exception=r"fatal error: Python\.h: No such file",
        cause="Triton compiles a small C extension at its first use; the headers of the venv's Python are not installed.",
        remedies=(
            Remedy("packages", "python3.12-dev (the -dev package of the venv's own Python) and build-essential", True),
        ),
        reference="sgl-project/sglang#1117",
    ),
    Signature(
        id="curand-headers-missing",
        title="The CUDA library headers are missing ({header})",
        line=r"fatal error: (?P<header>(?:curand|cublas|cusparse|cusolver|cufft|nvrtc)\w*\.h): No such file",
        exception=r"fatal error: (?P<header>(?:curand|cublas|cusparse|cusolver|cufft|nvrtc)\w*\.h): No such file",
        cause="FlashInfer compiles CUTLASS kernels with nvcc at their first use; of the CUDA toolkit only the compiler is "
        "installed, not the headers of its libraries.",
        remedies=(
            Remedy("packages", "libcurand-dev or cuda-libraries-dev of the same CUDA version as nvcc", True),
            Remedy("packages", "flashinfer-jit-cache (kernels compiled in advance)"),
        ),
        reference="sgl-project/sglang#4169",
    ),
    Signature(
        id="header-missing",
        title="A header is missing: {header}",
        line=r"fatal error: (?P<header>[\w./+-]+): No such file or directory",
        exception=r"fatal error: (?P<header>[\w./+-]+\.(?:h|hpp|cuh)): No such file or directory",
        cause="A kernel is compiled at its first use and the compiler does not find {header}.",
        remedies=(Remedy("packages", "the development package that holds {header}"),),
        reference="sgl-project/sglang#4169",
    ),
    Signature(
        id="nvcc-not-found",
        title="nvcc is not found",
        exception=r"Could not find nvcc|nvcc: not found|No such file or directory: '[^']*nvcc'",
        line=r"/bin/sh: \d+: .*nvcc: not found|nvcc: command not found",
        cause="FlashInfer compiles kernels at their first use and finds no CUDA compiler: none is installed, or the "
        "unit's environment lacks it (systemd reads no shell profile).",
        remedies=(
            Remedy("environment", "CUDA_HOME=/usr/local/cuda, and its bin directory in PATH"),
            Remedy("packages", "cuda-nvcc", True),
        ),
        reference="flashinfer-ai/flashinfer#1919",
    ),
    Signature(
        id="ptxas-too-old",
        title="ptxas does not know this GPU ({arch})",
        exception=r"(?:ptxas.*--gpu-name=|ptxas fatal.*Value ')(?P<arch>sm_\w+)",
        line=r"ptxas fatal\s*:.*Value '(?P<arch>sm_\w+)' is not defined",
        cause="The ptxas inside the triton wheel is older than the GPU; {arch} needs the one of a newer CUDA toolkit "
        "(B300, sm_103a: CUDA 12.9 or 13).",
        remedies=(
            Remedy(
                "environment",
                "TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas",
                True,
                note="of CUDA 13; newer triton also reads TRITON_PTXAS_BLACKWELL_PATH",
            ),
            Remedy("packages", "a torch and triton built for CUDA 13"),
        ),
        reference="sgl-project/sglang#14075",
    ),
    Signature(
        id="cxx-compiler-missing",
        title="No C++ compiler",
        exception=r"InvalidCxxCompiler|No working C\+\+ compiler found|Failed to find C compiler"
        r"|No such file or directory: '(?:g\+\+|gcc|cc|c\+\+)'",
        cause="Kernels are compiled at their first use and no C or C++ compiler is installed.",
        remedies=(Remedy("packages", "build-essential", True),),
        reference="pytorch/pytorch#92745",
    ),
    Signature(
        id="ninja-missing",
        title="ninja is missing",
        exception=r"Ninja is required to load C\+\+ extensions|No such file or directory: '[^']*ninja'",
        cause="Kernels are compiled at their first use and the build tool ninja is not on the unit's PATH.",
        remedies=(Remedy("packages", "ninja-build", True),),
        reference="torch/utils/cpp_extension.py",
    ),
    Signature(
        id="linker-cannot-find",
        title="The linker does not find lib{library}",
        line=r"cannot find -l(?P<library>\w+)",
        exception=r"cannot find -l(?P<library>\w+)",
        cause="A kernel is linked at its first use and lib{library}.so is not installed or not on the linker's path.",
        remedies=(Remedy("packages", "the package that holds lib{library}.so (libcuda: the driver, or its stub)"),),
        reference="vllm-project/vllm#18730",
    ),
    Signature(
        id="compiler-killed",
        title="The compiler of a kernel was killed",
        exception=r"died due to signal 9|fatal error: Killed signal terminated program|(?:nvcc|ptxas|cicc)[^\n]*\bKilled\b",
        cause="Many kernels are compiled at once, each with gigabytes of memory, and the host (or the unit's MemoryMax=) had "
        "no more.",
        remedies=(
            Remedy("environment", "MAX_JOBS=4", True, note="fewer compilers at once; slower, once"),
            Remedy("packages", "flashinfer-jit-cache (kernels compiled in advance)"),
            Remedy("host", "more memory, or no MemoryMax in the unit"),
        ),
        reference="flashinfer-ai/flashinfer#972",
    ),
    Signature(
        id="nvcc-too-old",
        title="nvcc does not know this GPU ({arch})",
        exception=r"nvcc fatal\s*: Unsupported gpu architecture '(?P<arch>compute_\w+)'",
        line=r"nvcc fatal\s*: Unsupported gpu architecture '(?P<arch>compute_\w+)'",
        cause="The installed CUDA compiler is older than the GPU: {arch} (B300: compute_103a) needs nvcc 12.9 or newer.",
        remedies=(
            Remedy("packages", "cuda-nvcc 13, the CUDA version that torch was built for", True),
            Remedy("environment", "CUDA_HOME and PATH of the newer toolkit, where both are installed"),
        ),
        reference="sgl-project/sglang#25487",
    ),
    Signature(
        id="host-compiler-too-new",
        title="nvcc does not accept this gcc",
        exception=r"unsupported GNU version! gcc versions later than (?P<last>\d+)",
        line=r"unsupported GNU version! gcc versions later than (?P<last>\d+)",
        cause="The host's gcc is newer than this CUDA toolkit supports (up to {last}).",
        remedies=(
            Remedy("packages", "g++-{last}, with NVCC_PREPEND_FLAGS=-ccbin=/usr/bin/g++-{last} in the unit"),
            Remedy("packages", "a newer CUDA toolkit"),
        ),
        reference="CUDA installation guide, host compiler support",
    ),
    Signature(
        id="cubin-download-failed",
        title="A compiled kernel could not be downloaded",
        exception=r"Failed to (?:get|load|download|fetch)[^\n]*cubin|cubin[^\n]*(?:sha256|checksum)[^\n]*mismatch",
        cause="FlashInfer downloads some kernels at their first use, and the host does not reach NVIDIA's server.",
        remedies=(
            Remedy("packages", "flashinfer-cubin of the same version as flashinfer-python (the kernels as a package)"),
        ),
        reference="flashinfer-ai/flashinfer#2093",
    ),
    Signature(
        id="stale-jit-cache",
        title="A compiled kernel is of another version than its caller",
        exception=r"(?:plan|run)\(\) expected at most \d+ argument\(s\) but received \d+",
        cause="The cache of compiled kernels was filled by another version of FlashInfer than the installed one.",
        remedies=(
            Remedy("host", "delete ~/.cache/flashinfer of the service's user (and FLASHINFER_WORKSPACE_BASE)", True),
            Remedy("packages", "the flashinfer version that this SGLang pins"),
        ),
        reference="sgl-project/sglang#5022",
    ),
    Signature(
        id="triton-kernel-invalid",
        title="A Triton kernel does not compile",
        exception=r"triton\.compiler\.errors\.\w+|MLIRError|PassManager::run failed",
        cause="The kernel does not fit the installed triton, this GPU or these sizes; the message names the place in it.",
        remedies=(
            Remedy("packages", "the triton version that this SGLang pins"),
            Remedy("server_args", "another --attention-backend or --moe-runner-backend than triton"),
        ),
        strength=WEAK,
        reference="triton/compiler/errors.py",
    ),
    Signature(
        id="kernel-build-failed",
        title="A kernel did not compile",
        exception=r"Ninja build failed|Error building extension|ninja: build stopped",
        cause="Compiling a kernel at its first use failed; the compiler's own lines in the evidence say why. The advice "
        "about memory that SGLang prints below it does not apply.",
        remedies=(
            Remedy("packages", "a complete CUDA toolkit of the version that torch was built for (nvcc and headers)"),
        ),
        strength=WEAK,
        reference="sgl-project/sglang#25487",
    ),
    Signature(
        id="torch-compile-failed",
        title="torch.compile failed",
        exception=r"torch\._inductor\.exc\.\w+|torch\._dynamo\.exc\.\w+|BackendCompilerFailed",
        cause="Compiling a part of the model with Inductor failed; the message tells which step.",
        remedies=(
            Remedy("server_args", "no --enable-torch-compile"),
            Remedy("host", "delete the Inductor cache of the service's user (TORCHINDUCTOR_CACHE_DIR)", True),
        ),
        strength=WEAK,
        reference="torch/_inductor/exc.py",
    ),
)
