# Copyright: (c) 2026, the inferops.sglang maintainers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The GPU, its driver, its fabric, and kernels for other architectures. PRIVATE to the collection."""

from __future__ import annotations

from ansible_collections.inferops.sglang.plugins.module_utils._core.diagnosis.model import (
    SECONDARY,
    WEAK,
    Remedy,
    Signature,
)

SIGNATURES = (
    Signature(
        id="fabric-manager",
        title="The NVSwitch fabric is not up (CUDA error 802)",
        exception=r"Error 802|system not yet initialized|Cuda failure 802",
        line=r"Error 802: system not yet initialized|Cuda failure 802",
        cause="On NVSwitch machines CUDA starts only after nvidia-fabricmanager; it is not running, or its version is not "
        "exactly the driver's. nvidia-smi lists the GPUs all the same.",
        remedies=(
            Remedy("host", "install nvidia-fabricmanager of exactly the driver's version and enable it"),
            Remedy("host", "After=nvidia-fabricmanager.service in the unit", True),
        ),
        reference="huggingface/huggingface_hub#4134",
    ),
    Signature(
        id="driver-too-old",
        title="The NVIDIA driver is too old for this torch",
        exception=r"NVIDIA driver on your system is too old",
        line=r"NVIDIA driver on your system is too old",
        cause="torch is built for a newer CUDA than the driver offers; SGLang goes on without a GPU and dies later of "
        "something that looks unrelated.",
        remedies=(Remedy("host", "NVIDIA driver 580 or newer for CUDA 13 (B300 needs it anyway)"),),
        reference="sgl-project/sglang#11395",
    ),
    Signature(
        id="driver-mismatch",
        title="Driver and library versions differ",
        exception=r"Error 803|Driver/library version mismatch|unsupported display driver / cuda driver combination",
        line=r"Driver/library version mismatch",
        cause="The kernel module and the user library of the NVIDIA driver are of different versions, usually after an "
        "unattended upgrade, or LD_LIBRARY_PATH names CUDA's compat directory.",
        remedies=(
            Remedy("host", "reboot, or reload the nvidia modules; hold the driver packages"),
            Remedy("environment", "LD_LIBRARY_PATH without cuda/compat"),
        ),
        reference="vllm-project/vllm#15335",
    ),
    Signature(
        id="device-denied",
        title="A security module denies {path}",
        line=r"apparmor=\"DENIED\".* name=\"(?P<path>/dev/nvidia[^\"]*)\"",
        cause="AppArmor does not let the service open the GPU's device; to the program it looks as if there were no GPU.",
        remedies=(Remedy("host", "the /dev/nvidia* devices in the profile that the line names"),),
        reference="apparmor(7)",
    ),
    Signature(
        id="driver-hangs",
        title="nvidia-smi does not answer",
        exception=r"TimeoutExpired: .*nvidia-smi",
        cause="The driver hangs, mostly because a GPU no longer answers; the kernel log's Xid lines say which.",
        remedies=(
            Remedy("host", "journalctl -k | grep -i xid; reset the GPU or restart the host"),
            Remedy("host", "nvidia-persistenced enabled, where the driver only starts slowly", True),
        ),
        reference="sglang/srt/utils/common.py",
    ),
    Signature(
        id="no-gpu",
        title="No GPU is visible to the service",
        exception=r"No CUDA GPUs are available|Found no NVIDIA driver|CUDA error: no CUDA-capable device"
        r"|Failed to infer device type|No accelerator \(CUDA|CUDA unknown error",
        cause="The process sees no GPU: the driver is not loaded, CUDA_VISIBLE_DEVICES hides them, or the unit may not "
        "open /dev/nvidia*.",
        remedies=(Remedy("host", "load the driver; no PrivateDevices in the unit; check CUDA_VISIBLE_DEVICES"),),
        reference="torch/cuda/__init__.py",
    ),
    Signature(
        id="gpu-count",
        title="There are fewer GPUs than ranks",
        exception=r"CUDA error: invalid device ordinal|Duplicate GPU detected",
        cause="The tensor-parallel size asks for more GPUs than the service sees.",
        remedies=(
            Remedy("server_args", "a --tp-size that is not above the number of GPUs"),
            Remedy("environment", "CUDA_VISIBLE_DEVICES with all of them"),
        ),
        reference="torch/cuda/__init__.py",
    ),
    Signature(
        id="ptx-too-new",
        title="The driver is too old for the compiled kernels",
        exception=r"provided PTX was compiled with an unsupported toolchain",
        cause="Kernels were compiled with a newer CUDA toolkit than the NVIDIA driver supports.",
        remedies=(Remedy("host", "a newer NVIDIA driver, or an nvcc of the CUDA version that nvidia-smi shows"),),
        reference="CUDA driver API, CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    ),
    Signature(
        id="no-kernel-image",
        title="A kernel has no code for this GPU",
        exception=r"no kernel image is available for execution",
        cause="A compiled package holds code for other GPU architectures only, or a cache of compiled kernels came from a "
        "machine with another GPU.",
        remedies=(
            Remedy("packages", "wheels that contain this architecture (sm_103: those for CUDA 13)"),
            Remedy("host", "delete ~/.cache/flashinfer, ~/.cache/sglang and ~/.triton of the service's user", True),
        ),
        reference="sgl-project/sglang#748",
    ),
    Signature(
        id="vision-attention-no-plan",
        title="cuDNN has no attention kernel for these images",
        exception=r"No execution plans support the graph|cudnn_frontend\] Error",
        cause="The chosen attention backend asks cuDNN for something that it does not offer on this GPU or in this version.",
        remedies=(
            Remedy("server_args", "--mm-attention-backend triton_attn", True),
            Remedy("packages", "the cuDNN version that torch pins"),
        ),
        strength=WEAK,
        reference="NVIDIA/cudnn-frontend",
    ),
    Signature(
        id="attention-kernel-unsupported-gpu",
        title="The attention kernels do not exist for this GPU",
        exception=r"TllmGenFmhaRunner[\s\S]*Unsupported architecture",
        cause="trtllm attention kernels exist for B200 and B300 (sm_100, sm_103) only.",
        remedies=(Remedy("server_args", "--attention-backend triton"),),
        reference="flashinfer-ai/flashinfer#3263",
    ),
    Signature(
        id="moe-kernel-unsupported-gpu",
        title="The MoE kernels do not exist for this GPU",
        exception=r"No supported CUDA architectures found for major versions|assert.*sm_100 <= arch <= sm_110",
        cause="The chosen MoE runner has no code for this GPU, or nvcc is too old to know it.",
        remedies=(
            Remedy("server_args", "--moe-runner-backend triton"),
            Remedy("packages", "nvcc 12.9 or newer on B300; FLASHINFER_CUDA_ARCH_LIST must not exclude it"),
        ),
        reference="flashinfer-ai/flashinfer#2045",
    ),
    Signature(
        id="triton-block-too-large",
        title="A Triton kernel needs more on-chip memory than this GPU has",
        exception=r"OutOfResources: out of resource: shared memory",
        cause="A kernel tuned for data-centre GPUs runs on one with less shared memory per multiprocessor. This is not "
        "/dev/shm and not the GPU's main memory.",
        remedies=(
            Remedy("server_args", "--attention-backend flashinfer"),
            Remedy("packages", "an SGLang version tuned for this GPU"),
        ),
        reference="kvcache-ai/ktransformers#1570",
    ),
    Signature(
        id="nvswitch-fatal",
        title="An NVSwitch reported a fatal error (SXid {sxid})",
        line=r"nvidia-nvswitch\S*: SXid \([^)]*\): (?P<sxid>\d+), Fatal",
        cause="The switch or one of its links is broken; every GPU behind it loses its peers, which shows as failing "
        "collective operations on all ranks.",
        remedies=(
            Remedy(
                "host", "drain the host; restart it with nvidia-fabricmanager; replace the baseboard where it recurs"
            ),
        ),
        reference="NVIDIA Fabric Manager user guide, SXid errors",
    ),
    Signature(
        id="gpu-hardware-error",
        title="The GPU reported a hardware error (Xid {xid})",
        line=r"NVRM: (?:S?Xid) .*?: (?P<xid>48|62|63|64|74|79|92|94|95|119|120|140|149)\b",
        cause="Xid {xid} is a fault of the GPU, its memory, its link or its firmware, not of the program.",
        remedies=(Remedy("host", "drain the host; nvidia-smi -q and the vendor's diagnostics; then reset or replace"),),
        reference="NVIDIA Xid errors, catalogue",
    ),
    Signature(
        id="gpu-program-fault",
        title="A GPU kernel crashed",
        exception=r"CUDA error: unspecified launch failure",
        nearby=r"NVRM: Xid .*?: (?:13|31|43|45)\b",
        cause="The kernel log's Xid 13, 31, 43 or 45 is a fault of the program that ran on the GPU, not of the hardware.",
        remedies=(
            Remedy("packages", "an SGLang or FlashInfer version with this kernel fixed"),
            Remedy("server_args", "a smaller --context-length, or another attention or MoE backend, meanwhile"),
        ),
        reference="sgl-project/sglang#32855",
    ),
    Signature(
        id="gpu-program-fault-reported",
        title="A GPU kernel crashed (Xid {xid})",
        line=r"NVRM: Xid .*?: (?P<xid>13|31|43|45)\b",
        cause="Xid {xid} is a fault of the program that ran on the GPU, not of the hardware. The program's own message is "
        "not in this log.",
        remedies=(Remedy("manual", "the log of the process that the line names"),),
        strength=SECONDARY,
        reference="NVIDIA Xid errors",
    ),
    Signature(
        id="illegal-memory-access",
        title="A GPU kernel accessed memory it must not",
        exception=r"CUDA error: an illegal memory access|CUDA_ERROR_ILLEGAL_ADDRESS|misaligned address",
        cause="A kernel of the chosen attention, MoE or speculative path is faulty for this model and GPU.",
        remedies=(
            Remedy("packages", "a newer SGLang and FlashInfer"),
            Remedy("server_args", "--moe-runner-backend triton"),
            Remedy("server_args", "no --speculative-algorithm, to see whether the draft path is at fault"),
        ),
        strength=WEAK,
        reference="sgl-project/sglang#23203",
    ),
    Signature(
        id="gpu-memory-error",
        title="The GPU's memory has an error that cannot be corrected",
        exception=r"uncorrectable ECC error|CUDA_ERROR_ECC_UNCORRECTABLE",
        cause="A memory cell or an SRAM of the GPU is broken; the program is not at fault.",
        remedies=(
            Remedy(
                "host", "nvidia-smi -q -d ECC,ROW_REMAPPER; reset the GPU or restart the host; replace it if it recurs"
            ),
        ),
        reference="NVIDIA Xid errors, 48 and 94",
    ),
    Signature(
        id="logits-not-a-number",
        title="The model computed no numbers (NaN)",
        exception=r"device-side assert|Detected errors during sampling! NaN in the (?:logits|probs)",
        nearby=r"probability tensor contains|NaN in the (?:logits|probs)",
        cause="The sampler met NaN or infinite probabilities: a kernel computes wrongly for this model and GPU, or the weights "
        "are damaged or quantized for another path.",
        remedies=(
            Remedy("model", "check the weight files by their hashes (model_download does)"),
            Remedy("server_args", "another --attention-backend or --moe-runner-backend, or --kv-cache-dtype auto"),
            Remedy("server_args", "--sampling-backend pytorch", note="to see the first wrong layer sooner"),
        ),
        strength=WEAK,
        reference="sglang/srt/layers/sampler.py",
    ),
    Signature(
        id="index-out-of-range-on-gpu",
        title="A token or position is out of range",
        exception=r"device-side assert",
        nearby=r"Assertion `[^\n]*(?:index out of bounds|srcIndex < srcSelectDimSize|ind >= 0)",
        cause="A lookup on the GPU met an index beyond its table: the tokenizer has more tokens than the model, a position "
        "beyond the context length, or a draft model with another vocabulary.",
        remedies=(
            Remedy("model", "tokenizer, weights and draft model of one revision"),
            Remedy("server_args", "a --context-length within the model's"),
        ),
        strength=WEAK,
        reference="pytorch, aten/src/ATen/native/cuda/Indexing.cu",
    ),
    Signature(
        id="kernel-launch-failure",
        title="A GPU kernel failed",
        exception=r"CUDA error: unspecified launch failure|CUDA error: device-side assert",
        cause="A kernel failed on the GPU; the kernel log's Xid line tells whether the hardware is at fault.",
        remedies=(Remedy("manual", "journalctl -k | grep -i xid"),),
        strength=WEAK,
        reference="CUDA runtime API, cudaErrorLaunchFailure",
    ),
)
