# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the real program prints when it dies of a known cause. The texts follow the programs' own formats."""

from __future__ import annotations

SITE = "/opt/sglang/venv/lib/python3.12/site-packages"

_SCHEDULER = (
    "Traceback (most recent call last):",
    f'  File "{SITE}/sglang/srt/managers/scheduler.py", line 6362, in run_scheduler_process',
    "    scheduler = Scheduler(server_args, port_args)",
    f'  File "{SITE}/sglang/srt/managers/scheduler.py", line 568, in __init__',
    "    self.init_model_worker()",
)
_RUNNING = (
    "Traceback (most recent call last):",
    f'  File "{SITE}/sglang/srt/managers/scheduler.py", line 6368, in run_scheduler_process',
    "    scheduler.run_event_loop()",
    f'  File "{SITE}/sglang/srt/managers/scheduler.py", line 2084, in event_loop_overlap',
    "    result = self.run_batch(batch)",
)

TRACEBACKS = {
    "missing_module": (
        *_SCHEDULER,
        f'  File "{SITE}/sglang/srt/layers/rotary_embedding/base.py", line 138, in __init__',
        "    from vllm._custom_ops import rotary_embedding",
        "ModuleNotFoundError: No module named 'vllm'",
    ),
    "bad_weights": (
        *_SCHEDULER,
        f'  File "{SITE}/sglang/srt/model_loader/weight_utils.py", line 1354, in _load_file',
        '    with safetensors.safe_open(st_file, framework="pt", device="cpu") as f:',
        "safetensors._safetensors_rust.SafetensorError: Error while deserializing header: header too large",
    ),
    "python_h": (
        *_SCHEDULER,
        f'  File "{SITE}/triton/runtime/build.py", line 54, in _build',
        "    subprocess.check_call(cc_cmd, stdout=subprocess.DEVNULL)",
        '  File "/usr/lib/python3.12/subprocess.py", line 413, in check_call',
        "    raise CalledProcessError(retcode, cmd)",
        "subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmp9x1/cuda_utils.c', '-O3', '-shared', "
        "'-fPIC', '-o', '/tmp/tmp9x1/cuda_utils.so']' returned non-zero exit status 1.",
    ),
    "out_of_memory": (
        *_SCHEDULER,
        f'  File "{SITE}/sglang/srt/model_executor/cuda_graph_runner.py", line 812, in capture',
        "    graph.replay()",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of "
        "267.69 GiB of which 812.00 MiB is free.",
    ),
    "vision_tower": (
        *_RUNNING,
        f'  File "{SITE}/sglang/srt/managers/mm_utils.py", line 563, in _get_chunked_embedding_by_item',
        "    embedding = data_embedding_func(items)",
        f'  File "{SITE}/sglang/srt/models/kimi_k25.py", line 697, in get_image_feature',
        "    image_embeds = self.vision_tower(pixel_values, grid_thws)",
        f'  File "{SITE}/sglang/jit_kernel/flash_attention_v4.py", line 46, in flash_attn_varlen_func',
        "    raise ImportError(",
        "ImportError: Vendored FlashAttention CUTE is not available (cannot import flash_attn.cute). "
        "Please check your source tree.",
    ),
    "illegal_memory": (
        *_RUNNING,
        f'  File "{SITE}/sglang/srt/managers/tp_worker.py", line 640, in forward_batch_generation',
        "    logits_output = self.model_runner.forward(forward_batch)",
        "torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
    ),
}

# Written before the traceback, without a rank prefix, by a program that the rank started.
COMPILER_LINES = {
    "python_h": (
        "/tmp/tmp9x1/cuda_utils.c:6:10: fatal error: Python.h: No such file or directory",
        "    6 | #include <Python.h>",
        "      |          ^~~~~~~~~~",
        "compilation terminated.",
    )
}

# Faults of the main process; every other one strikes in a rank.
OF_THE_MAIN_PROCESS = ("warmup_timeout", "garbage", "exit")
PHASE_OF = {"vision_tower": "image", "python_h": "cuda_graphs", "out_of_memory": "cuda_graphs"}
