# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a line is, whatever it says: terminal, secondary, harmless, or a warning to remember.

The texts are those of SGLang 0.5.5 to 0.5.23, torch, NCCL, gloo, uvicorn and systemd; patterns are searched in lines.

Note that this module util is PRIVATE to the collection. It can have breaking changes at any time.
"""

from __future__ import annotations

import re

from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.entry import Entry
from ansible_collections.inferops.sglang.plugins.module_utils._core.journal.words import interesting

# The service is over once one of these is printed, whatever the unit's state says a moment longer.
TERMINAL = re.compile(
    r"Scheduler hit an exception"
    r"|(?:Tokenizer|Detokenizer)Manager hit an exception"
    r"|DataParallelController hit an exception"
    r"|Exception in (?:run_tp_server|ModelTpServer)"
    r"|terminate called after throwing"
    r"|Fatal Python error"
    r"|Initialization failed\. warmup error"
    r"|crashed with exit code"
    r"|[Ww]atchdog timeout \(self\.watchdog_timeout=[\d.]+(?!, self\.soft=True)(?![\d.])"
    r"|: error: (?:unrecognized arguments|argument |the following arguments are required|ambiguous option)"
    r"|\[Errno \d+\] error while attempting to bind on address"
    r"|Received sigquit from a child process"
    r"|SIGQUIT received\. signum"
    r"|Rank \d+ scheduler (?:died during initialization|is dead)"
    r"|Watchdog caught collective operation timeout"
    r"|: line \d+:\s+\d+ (?:Killed|Segmentation fault|Aborted|Bus error|Illegal instruction)\b"
    r"|^(?:double free or corruption|malloc\(\): |free\(\): |munmap_chunk\(\): |corrupted (?:size|double)|\*\*\* stack smash)"
)

# Headers whose traceback is always the end of a process.
FATAL_HEADER = re.compile(
    r"hit an exception|Exception in (?:run_tp_server|ModelTpServer)|Initialization failed\. warmup error"
    r"|EngineCore (?:failed|encountered a fatal)|Worker failed with error"
)

# Headers whose traceback was caught and survived.
SURVIVED_HEADER = re.compile(
    r"Can not initialize OpenAIServingResponses|Error in detect_and_parse|Logging error|freeze_gc failed"
    r"|Exception ignored in|Exception in ASGI application|Unexpected error during package walk|Task exception was never"
)

# Consequences. They are never the cause, however loud they are.
SECONDARY = re.compile(
    r"Received sigquit from|SIGQUIT received|kill_process_tree called|Server process exited with code -9"
    r"|Initialization failed\. Please see|ninja: build stopped|Ninja build failed"
    r"|Connection (?:closed|reset) by|ncclRemoteError|remote process exited or there was a network error"
    r"|Broken pipe|should.dump.? flag|leaked (?:semaphore|shared_memory)|resource_tracker|reentrant call"
    r"|Engine core initialization failed|successfully reached monitoredBarrier"
    r"|could finish the model loading, but there are other ranks that didn't|<Response \[[45]\d\d\]>"
    r"|scheduler died during initialization \(exit code: -(?:3|15)\)|Sleeping \d+ seconds before crash diagnostics"
    r"|skipping py-spy|No live scheduler processes found|Pyspy failed to dump|py-spy: not found"
    r"|Segfault encountered|Waiting for application shutdown|EOFError|Application shutdown"
    r"|socketPollConnect|Exit code: -?\d+|Subprocess \S+ \(pid=\d+\) crashed with exit code -15"
)

# Look-alikes: words of failure in the log of a healthy start.
HARMLESS = re.compile(
    r"Ignore import error when loading|Fail to set RLIMIT_NOFILE|UserWarning|FutureWarning|DeprecationWarning"
    r"|warnings\.warn\(|is deprecated|Config file not found at|Performance might be sub-optimal"
    r"|OpenAI Responses API \(/v1/responses\) disabled|unauthenticated requests|Failed to import from"
    r"|can be ignored|Hit invalid (?:json_schema|regex|ebnf|structural_tag)|Unexpected error during package walk"
    r"|Cannot detect CUDA architecture|only intel amx backend|hostname of the client socket cannot be retrieved"
    r"|Unable to resolve hostname to a \(local\) address|Health check request received during shutdown"
    r"|Health check failed|\" (?:200|401|403|404|503) |server_args=|create_error_response"
    r"|'NoneType' object is not iterable. Skipping|set_default_torch_dtype"
    r"|^(?:Receive|Finish): obj=|self\.soft=True\)"
)

# Decisive although the program only warns: matched before HARMLESS is asked.
DECISIVE_WARNING = re.compile(
    r"driver on your system is too old|No accelerator \(CUDA|Error 80[23]: |Unexpected error from cudaGetDeviceCount"
    r"|is not compatible with the current PyTorch installation"
)

STOP = re.compile(
    r"SIGTERM received\. signum|^Stopping .*\.\.\.$|^Stopping \S+|: Deactivated successfully|^Stopped |^KeyboardInterrupt(?::|$)"
)

ANSWERED = re.compile(r'"(?:GET|POST) \S{1,300} HTTP/[\d.]{1,4}" 200')

# Harmless by itself, worth remembering when the next start dies.
EARLY_WARNINGS = (
    (re.compile(r"Unexpected error during package walk: cutlass"), "the installed CUTLASS DSL is incomplete or of "
     "another version than flash attention expects; the vision path may fail at the first image"),
    (re.compile(r"Fail to set RLIMIT_NOFILE"), "the limit of open files is below 65535: set LimitNOFILE=1048576 in the "
     "unit, or requests fail with 'Too many open files' under load"),
    (re.compile(r"with an incorrect regex pattern"), "the tokenizer is loaded with a wrong pattern: answers may be "
     "damaged, for Kimi K2.x </think> may vanish"),
    (re.compile(r"The memory capacity is unbalanced"), "another process uses one of the GPUs, or they differ in size"),
    (re.compile(r"is not compatible with the current PyTorch installation"), "this torch has no code for this GPU"),
    (re.compile(r"driver on your system is too old"), "the NVIDIA driver is too old for this torch"),
    (re.compile(r"No accelerator \(CUDA"), "no GPU was found; the server goes on without one"),
    (re.compile(r"Health check failed\. Server couldn't get a response"), "one step took longer than "
     "SGLANG_HEALTH_CHECK_TIMEOUT (20 s); harmless if it recovers"),
    (re.compile(r"Suppressed \d+ messages"), "the journal dropped lines: set LogRateLimitIntervalSec=0 in the unit"),
)  # fmt: skip


def harmless(text: str) -> bool:
    """True for a line that looks like a failure and is none."""
    return bool(HARMLESS.search(text)) and not DECISIVE_WARNING.search(text)


def is_sign_of_life(entry: Entry) -> bool:
    """True for a line that shows its writer at work: a record of its own, or an answer, and no obituary or part of a stop."""
    if not entry.stamped and not ANSWERED.search(entry.text):
        return False
    return not interesting(entry.text) or not (SECONDARY.search(entry.text) or STOP.search(entry.text))
