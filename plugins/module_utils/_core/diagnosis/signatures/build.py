# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Failures of compiling at run time: headers, compilers, ptxas, stale caches.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    WEAK,
    Remedy,
    Signature,
)

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
        exception=r"ptxas.*--gpu-name=(?P<arch>sm_\w+)|ptxas fatal.*'(?P<arch2>sm_\w+)' is not defined",
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
    ),
    Signature(
        id="linker-cannot-find",
        title="The linker does not find lib{library}",
        line=r"cannot find -l(?P<library>\w+)",
        exception=r"cannot find -l(?P<library>\w+)",
        cause="A kernel is linked at its first use and lib{library}.so is not installed or not on the linker's path.",
        remedies=(Remedy("packages", "the package that holds lib{library}.so (libcuda: the driver, or its stub)"),),
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
)
