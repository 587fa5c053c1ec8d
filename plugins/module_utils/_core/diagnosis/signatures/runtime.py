# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports, warm-up, hangs and crashes while running. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    SECONDARY,
    WEAK,
    Remedy,
    Signature,
)

SIGNATURES = (
    Signature(
        id="port-in-use",
        title="The port is taken",
        exception=r"\[Errno 98\] error while attempting to bind on address \('(?P<host>[^']*)', (?P<port>\d+)\)",
        cause="Another process listens on {host}:{port}. This server hangs for minutes before it notices.",
        remedies=(Remedy("host", "end the process that `ss -ltnp` shows on port {port}, or choose another port"),),
        reference="measured, SGLang 0.5.23",
    ),
    Signature(
        id="address-not-available",
        title="The address is not one of this host",
        exception=r"\[Errno 99\] error while attempting to bind on address \('(?P<host>[^']*)', (?P<port>\d+)\)",
        cause="{host} is not an address of this host.",
        remedies=(Remedy("server_args", "--host 0.0.0.0, or an address of this host"),),
        reference="errno(3), EADDRNOTAVAIL",
    ),
    Signature(
        id="port-not-permitted",
        title="The service's user may not use port {port}",
        exception=r"\[Errno 13\] error while attempting to bind on address \('(?P<host>[^']*)', (?P<port>\d+)\)",
        cause="Ports below 1024 need a capability that the service's user lacks.",
        remedies=(
            Remedy("server_args", "a port above 1023, behind a proxy if clients need {port}"),
            Remedy("host", "AmbientCapabilities=CAP_NET_BIND_SERVICE in the unit"),
        ),
        reference="capabilities(7)",
    ),
    Signature(
        id="internal-socket-in-use",
        title="An internal port is taken",
        exception=r"ZMQError: Address already in use",
        cause="SGLang's processes speak over ports above its own; another process, often of a killed server, holds one.",
        remedies=(
            Remedy("host", "end the leftover sglang processes, or wait until they are gone"),
            Remedy("environment", "SGLANG_PORT with a free range, where two servers share the host"),
        ),
        reference="sgl-project/sglang#31281",
    ),
    Signature(
        id="internal-port-in-use",
        title="A previous server still holds an internal port",
        exception=r"\b(?P<name>\w+_port) at (?P<port>\d+) is not available in \d+ seconds",
        cause="{name} {port} is held by a process of a killed server, which may be stuck while the GPU is torn down.",
        remedies=(
            Remedy("host", "end the leftover sglang processes, or wait until they are gone"),
            Remedy("host", "RestartSec=60 or more in the unit", True),
        ),
        reference="sgl-project/sglang#31281",
    ),
    Signature(
        id="warm-up-timeout",
        title="The warm-up request was not answered in time",
        exception=r"ReadTimeout[\s\S]*Read timed out|Read timed out\. \(read timeout",
        nearby=r"Initialization failed\. warmup error",
        cause="The server's own first request took longer than SGLANG_WARMUP_TIMEOUT (600 s by default), which a first "
        "start with cold kernel caches can need.",
        remedies=(Remedy("environment", "SGLANG_WARMUP_TIMEOUT=1800", True),),
        reference="measured, SGLang 0.5.23",
    ),
    Signature(
        id="warm-up-proxied",
        title="The warm-up request went to a proxy",
        exception=r"ProxyError|Tunnel connection failed|502 Server Error|Proxy Authentication",
        nearby=r"Initialization failed\. warmup error",
        cause="The service's environment names an HTTP proxy, and the server's request to itself went there.",
        remedies=(Remedy("environment", "NO_PROXY=127.0.0.1,localhost", True),),
        reference="sglang/srt/entrypoints/http_server.py",
    ),
    Signature(
        id="warm-up-interrupted",
        title="The server went away while it warmed up",
        exception=r"Connection refused",
        nearby=r"Initialization failed\. warmup error",
        cause="The HTTP server was already gone: it was stopped, or a rank failed before.",
        strength=SECONDARY,
        reference="measured, SGLang 0.5.23",
    ),
    Signature(
        id="rendezvous-port-in-use",
        title="The port on which the ranks meet is taken",
        exception=r"server socket has failed to listen on any local network address[\s\S]*?port: (?P<port>\d+)|EADDRINUSE",
        cause="torch.distributed could not open its rendezvous port; usually a process of a killed server still holds it.",
        remedies=(Remedy("host", "end the leftover sglang processes, or choose another --dist-init-addr"),),
        reference="torch/csrc/distributed/c10d/TCPStore.cpp",
    ),
    Signature(
        id="rendezvous-unreachable",
        title="{host}:{port} cannot be reached, where the ranks meet",
        exception=r"client socket has timed out after \d+ ?ms while trying to connect to \((?P<host>[^,]+), (?P<port>\d+)\)",
        cause="The first node is not started, died before, or a firewall or the wrong interface is between.",
        remedies=(
            Remedy("manual", "the first node's log; nc -vz {host} {port} from this one"),
            Remedy("server_args", "--dist-init-addr with an address that all nodes reach"),
        ),
        reference="torch/csrc/distributed/c10d/socket.cpp",
    ),
    Signature(
        id="rendezvous-timeout",
        title="Not all nodes came to the rendezvous",
        exception=r"Timed out after \d+ seconds waiting for clients|DistStoreError|wait(?: for clients.*)? time(?:d )?out",
        cause="At least one rank or node never connected: it is not started, cannot reach --dist-init-addr, or died first.",
        remedies=(Remedy("manual", "the other nodes' logs, and whether they reach --dist-init-addr"),),
        strength=WEAK,
        reference="torch/csrc/distributed/c10d/TCPStore.cpp",
    ),
    Signature(
        id="open-files-limit",
        title="Too many open files",
        exception=r"Too many open files",
        cause="The unit's limit of open files is too low.",
        remedies=(Remedy("host", "LimitNOFILE=1048576 in the unit", True),),
        reference="errno(3), EMFILE",
    ),
    Signature(
        id="process-limit",
        title="No more threads or processes",
        exception=r"can't start new thread|BlockingIOError: \[Errno 11\]|pthread_create failed",
        cause="The unit's limit of tasks or its user's limit of processes is reached: eight ranks with their thread pools need "
        "thousands.",
        remedies=(
            Remedy("host", "TasksMax=infinity and LimitNPROC=infinity in the unit", True),
            Remedy("environment", "OMP_NUM_THREADS=8"),
        ),
        reference="systemd.resource-control(5), TasksMax=",
    ),
    Signature(
        id="home-not-writable",
        title="The service has no writable home",
        exception=r"Permission denied: '(?P<path>/\.(?:cache|triton|config|local|nv)[^']*)'",
        line=r"PermissionError: \[Errno 13\] Permission denied: '(?P<path>/\.[^']*)'",
        cause="HOME is / or unset for the service's user, so caches would be written to {path}.",
        remedies=(Remedy("environment", "HOME and XDG_CACHE_HOME with a directory of the service's user"),),
        reference="opendatahub-io/ilab-on-ocp#26",
    ),
    Signature(
        id="permission-denied",
        title="{path} may not be read or written",
        exception=r"PermissionError: \[Errno 13\] Permission denied: '(?P<path>[^']+)'",
        cause="The service's user has no permission for {path}, or the unit protects that directory.",
        remedies=(Remedy("host", "give the service's user access to {path}"),),
        strength=WEAK,
        reference="errno(3), EACCES",
    ),
    Signature(
        id="dflash-prefix-cache",
        title="DFLASH crashed on a prompt with a cached prefix",
        exception=r".",
        frames=r"dflash\w*|DFlash\w*",
        nearby=r"#cached-token: [1-9]",
        cause="Known for Kimi K2.x with DFLASH on B300: the second request with the same beginning crashes the target's "
        "forward pass.",
        remedies=(
            Remedy("packages", "an SGLang release with the fix"),
            Remedy("server_args", "--disable-radix-cache", True),
        ),
        strength=WEAK,
        reference="sgl-project/sglang#28528",
    ),
    Signature(
        id="autotune-crash",
        title="It crashed while tuning FlashInfer's kernels",
        exception=r"Fatal Python error: (?:Segmentation fault|Aborted)",
        frames=r"autotun",
        cause="A FlashInfer kernel crashed during its tuning run.",
        remedies=(
            Remedy("server_args", "--disable-flashinfer-autotune", True),
            Remedy("packages", "another FlashInfer version"),
        ),
        reference="flashinfer-ai/flashinfer#4773",
    ),
    Signature(
        id="watchdog-timeout",
        title="A rank hung until its watchdog ended it",
        exception=r"[Ww]atchdog timeout \(self\.watchdog_timeout=(?P<seconds>[\d.]+)",
        cause="One step took longer than {seconds} s: a kernel or a collective operation hangs, or a kernel was still being "
        "compiled.",
        remedies=(
            Remedy("server_args", "a higher --watchdog-timeout, where a long first compilation is expected"),
            Remedy("manual", "py-spy dump of the rank, and the first NCCL warning"),
        ),
        strength=WEAK,
        reference="sgl-project/sglang#7783",
    ),
    Signature(
        id="chat-template-broken",
        title="The chat template fails on a request",
        exception=r"jinja2\.exceptions\.\w+: (?P<what>.+)",
        cause="The template does not accept the messages it was given ({what}).",
        remedies=(
            Remedy("model", "the tokenizer's files of the right revision"),
            Remedy("server_args", "--chat-template with a corrected copy"),
        ),
        strength=WEAK,
        reference="sglang/srt/entrypoints/openai/serving_chat.py",
    ),
    Signature(
        id="processor-too-old",
        title="The processor lacks an instruction that the program uses",
        line=r"trap invalid opcode .* in (?P<library>\S+?)\[",
        cause="{library} was compiled for newer processors, or the virtual machine hides features (AVX2, AVX-512) of its host.",
        remedies=(
            Remedy("host", "the CPU model host-passthrough for the virtual machine"),
            Remedy("packages", "a build for this processor"),
        ),
        reference="signal(7), SIGILL",
    ),
    Signature(
        id="segmentation-fault",
        title="{program} crashed in {library}",
        line=r"(?<![^\s\[])(?P<program>[^\s\[]{1,64})\[\d+\]: segfault at .* in (?P<library>\S+?)\[",
        cause="The kernel ended {program} for a bad memory access in the native library {library}.",
        remedies=(Remedy("packages", "another version of the package that holds {library}"),),
        strength=WEAK,
        reference="signal(7), SIGSEGV",
    ),
    Signature(
        id="native-crash",
        title="It crashed in native code ({what})",
        exception=r"Fatal Python error: (?P<what>.+)",
        cause="A compiled extension crashed; the frames show from where it was called.",
        remedies=(Remedy("packages", "another version of the package in the last frame"),),
        strength=WEAK,
        reference="Python, faulthandler",
    ),
    Signature(
        id="heap-corrupted",
        title="The C library found the heap broken",
        line=r"^(?:double free or corruption|malloc\(\): |free\(\): |munmap_chunk\(\): |corrupted (?:size|double)"
        r"|\*\*\* stack smashing detected)",
        cause="A compiled extension wrote where it must not; the place where it shows is seldom the place where it happened.",
        remedies=(Remedy("packages", "the versions of torch, sgl_kernel and flashinfer that this SGLang pins"),),
        strength=WEAK,
        reference="glibc, malloc/malloc.c",
    ),
    Signature(
        id="killed-in-its-shell",
        title="Its shell saw it killed",
        line=r": line \d+:\s+\d+ (?P<how>Killed|Segmentation fault|Aborted|Bus error|Illegal instruction)\b",
        cause="The program ended by a signal ({how}) without a word of its own in this log: in a container most often its "
        "memory limit, or the runtime's own kill.",
        remedies=(Remedy("manual", "kubectl describe pod (OOMKilled), docker inspect, journalctl -k"),),
        strength=SECONDARY,
        reference="bash(1), job control",
    ),
    Signature(
        id="killed-from-outside",
        title="{process} was killed from outside",
        exception=r"\b(?P<process>\w+) died with exit code -9",
        cause="Something sent SIGKILL to one of the server's processes: a person, a script, or the kernel when memory ran out "
        "(its log would say so).",
        remedies=(Remedy("manual", "journalctl -k around that time (out of memory)"),),
        strength=SECONDARY,
        reference="sglang/srt/utils/watchdog.py",
    ),
    Signature(
        id="rank-died-natively",
        title="Rank {rank} died without a word",
        exception=r"Rank (?P<rank>\d+) scheduler (?:died during initialization|is dead)",
        line=r"Rank (?P<rank>\d+) scheduler (?:died during initialization|is dead)",
        cause="The scheduler process of rank {rank} ended without a message of its own. SGLang's hint at the out-of-memory "
        "killer counts only where the kernel log confirms it.",
        remedies=(Remedy("manual", "journalctl -k around that time (out of memory, Xid, segfault)"),),
        strength=SECONDARY,
        reference="sglang/srt/entrypoints/engine.py",
    ),
)
