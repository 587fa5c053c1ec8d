# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is missing for a compilation is named with the package that brings it."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.inferops.sglang.plugins.module_utils._core.venv import toolchain

COMPLETE = toolchain.Tools(
    python="/usr/bin/python3.12",
    header_package="python3.12-dev",
    include="/usr/include/python3.12",
    headers=True,
    cc="/usr/bin/cc",
    cxx="/usr/bin/c++",
    ninja="/usr/bin/ninja",
    nvcc="",
)


def test_a_complete_host_has_no_problem() -> None:
    assert toolchain.problems(COMPLETE, wants_cuda=False, environment={}) == []


@pytest.mark.parametrize(
    ("lack", "missing", "package"),
    [
        ({"headers": False}, "Python.h", "python3.12-dev"),
        ({"include": ""}, "/usr/bin/python3.12", "python3.12"),
        ({"cc": ""}, "cc", "build-essential"),
        ({"cxx": ""}, "c++", "build-essential"),
        ({"ninja": ""}, "ninja", "ninja-build"),
    ],
)
def test_what_is_missing_comes_with_its_package(lack: dict[str, object], missing: str, package: str) -> None:
    (problem,) = toolchain.problems(COMPLETE._replace(**lack), wants_cuda=False, environment={})  # type: ignore[arg-type]
    assert (problem.missing, problem.package) == (missing, package)
    assert f"the package {package} brings it" in problem.message


def test_an_interpreter_from_elsewhere_has_no_package() -> None:
    tools = COMPLETE._replace(python="/opt/python", header_package="", headers=False)
    (problem,) = toolchain.problems(tools, wants_cuda=False, environment={})
    assert "no package of the distribution brings it" in problem.message


def test_nvcc_is_needed_only_where_cuda_is_wanted() -> None:
    (problem,) = toolchain.problems(COMPLETE, wants_cuda=True, environment={})
    assert problem.missing == "nvcc"
    assert toolchain.problems(COMPLETE._replace(nvcc="/usr/local/cuda/bin/nvcc"), True, {}) == []


def test_a_cuda_home_that_is_not_one_directory_is_named(tmp_path: Path) -> None:
    text = f'CUDA_HOME=":/usr/local/cuda"\nexport CUDA_PATH={tmp_path}\n# CUDA_HOME=/x\nPATH="/usr/bin"\n'
    environment = toolchain.read_environment(text)
    (problem,) = toolchain.problems(COMPLETE, False, environment)
    assert "CUDA_HOME is ':/usr/local/cuda'" in problem.message


def test_a_failed_compilation_is_told_by_its_first_error() -> None:
    output = "In file included from x.c:1:\nx.c:2:10: fatal error: Python.h: No such file or directory\ncompilation terminated."
    problem = toolchain.failed_build("compiled", output)
    assert problem.message.endswith("x.c:2:10: fatal error: Python.h: No such file or directory")
    assert "no output" in toolchain.failed_build("imported", "").message


def test_the_version_of_nvcc() -> None:
    assert toolchain.nvcc_version("Cuda compilation tools, release 13.0, V13.0.48") == "13.0"
    assert toolchain.nvcc_version("?") == ""
