# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a just-in-time compiler needs, tried out the way Triton does it."""

from __future__ import annotations

from typing import Any

testinfra_hosts = ["ansible://b300-01", "ansible://b300-02"]

PROBE = r"""
set -e
cd "$(mktemp -d)"
cat > probe.c <<'C'
#include <Python.h>
static struct PyModuleDef probe = {PyModuleDef_HEAD_INIT, "probe"};
PyMODINIT_FUNC PyInit_probe(void) { return PyModule_Create(&probe); }
C
include=$(/usr/bin/python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
gcc -shared -fPIC -I"$include" probe.c -o probe.so
/usr/bin/python3 -c 'import probe; print("imported", probe.__name__)'
rm -r "$PWD"
"""


def test_an_extension_compiles_and_imports(host: Any) -> None:
    assert host.check_output(PROBE) == "imported probe"


def test_ninja_and_a_cxx_compiler_run(host: Any) -> None:
    assert host.run("ninja --version").rc == 0
    assert host.run("g++ --version").rc == 0


def test_the_headers_are_the_interpreters_own(host: Any) -> None:
    version = host.check_output("/usr/bin/python3 -c 'import sys; print(\"%d.%d\" % sys.version_info[:2])'")
    assert host.file(f"/usr/include/python{version}/Python.h").exists
