# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a host can compile what SGLang's libraries compile at run time, and which package brings what is missing.

Triton compiles a C extension with the interpreter's headers, and PyTorch runs C++ builds through ninja; FlashInfer
and DeepGEMM need nvcc.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

# As small as a C extension can be, and still it needs Python.h, the compiler, the linker and the C library's headers.
EXTENSION = """
#include <Python.h>

static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "inferops_probe", "", -1, methods, NULL, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit_inferops_probe(void) { return PyModule_Create(&module); }
"""
IMPORT = "import sys; sys.path.insert(0, sys.argv[1]); import inferops_probe; assert inferops_probe.answer() == 42"

CUDA_VARIABLES = ("CUDA_HOME", "CUDA_PATH")


class Problem(NamedTuple):
    """What is missing, the Debian package that brings it (empty if none does), and both as a sentence."""

    missing: str
    package: str
    message: str


class Tools(NamedTuple):
    """Paths of what was found; an empty string is something that was not. *include* and *headers* are Python's."""

    python: str
    header_package: str
    include: str
    headers: bool
    cc: str
    cxx: str
    ninja: str
    nvcc: str


def problems(tools: Tools, wants_cuda: bool, environment: dict[str, str]) -> list[Problem]:
    """Everything that keeps a compilation from working, most basic first."""
    found = []
    if not tools.include:
        message = f"the interpreter {tools.python} does not exist here or does not start"
        package = tools.header_package[: -len("-dev")]
        found.append(_problem(tools.python, package, message))
    elif not tools.headers:
        message = f"the C headers of {tools.python} are missing: there is no {tools.include}/Python.h"
        found.append(_problem("Python.h", tools.header_package, message))
    if not tools.cc:
        found.append(_problem("cc", "build-essential", "there is no C compiler (cc)"))
    if not tools.cxx:
        found.append(_problem("c++", "build-essential", "there is no C++ compiler (c++)"))
    if not tools.ninja:
        found.append(_problem("ninja", "ninja-build", "there is no ninja"))
    if wants_cuda and not tools.nvcc:
        message = "there is no nvcc in PATH, CUDA_HOME/bin or /usr/local/cuda/bin"
        found.append(Problem("nvcc", "cuda-nvcc", f"{message}; a cuda-nvcc-* package of NVIDIA's repository brings it"))
    found.extend(_bad_directories(environment))
    return found


def failed_build(step: str, output: str) -> Problem:
    """The problem of a compilation or import that did not work, with the line that says why."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    cause = (errors or lines or ["no output"])[0]
    return Problem("", "", f"a small C extension cannot be {step}: {cause}")


def read_environment(text: str) -> dict[str, str]:
    """The variables of an ``/etc/environment``, as pam_env reads it."""
    pairs = re.findall(r"^\s*(?:export\s+)?(\w+)=(.*?)\s*$", text, re.MULTILINE)
    return {name: value.strip("\"'") for name, value in pairs}


def nvcc_candidates(environment: dict[str, str]) -> list[str]:
    """Where nvcc stands when it is not in PATH, in the order in which PyTorch and FlashInfer look."""
    homes = [environment[name] for name in CUDA_VARIABLES if environment.get(name)]
    return [os.path.join(home, "bin", "nvcc") for home in [*homes, "/usr/local/cuda"]]


def nvcc_version(output: str) -> str:
    """The release in the output of ``nvcc --version``, as ``13.0``."""
    match = re.search(r"release (\d+\.\d+)", output)
    return match.group(1) if match else ""


def _bad_directories(environment: dict[str, str]) -> list[Problem]:
    found = []
    for name in CUDA_VARIABLES:
        value = environment.get(name, "")
        if value and not os.path.isdir(value):
            message = (
                f"{name} is {value!r} in /etc/environment, which is not one existing directory; correct or remove it"
            )
            found.append(Problem(name, "", message))
    return found


def _problem(missing: str, package: str, message: str) -> Problem:
    remedy = f"; the package {package} brings it" if package else "; no package of the distribution brings it"
    return Problem(missing, package, message + remedy)
