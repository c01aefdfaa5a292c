"""Print how fast tensor cores are when `mma` has nothing to wait for, and with ldmatrix beside it.

    python3 benchmarks/mma_rate.py        needs a GPU of compute capability 8.0 or more, and CuPy

Every SM is full of warps; each warp has sixteen independent sums and runs `mma` on operands that
stay in its registers. Then again with one, two, … `ldmatrix_x4` for each four `mma`, that is, one,
two, … wavefronts of 128 bytes for each. The results are of no use; the rates are ceilings.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from numba import cuda, float32

from course_lib import timing
from course_lib.intrinsics import (
    ldmatrix_x4,
    mma_m16n8k8_f16,
    mma_m16n8k8_tf32,
    mma_m16n8k16_bf16,
    unroll,
    unrolled,
)

FORMATS = {"bfloat16": ("m16n8k16", 16), "tf32": ("m16n8k8", 8), "float16": ("m16n8k8", 8)}
THREADS, BLOCKS_PER_SM, SUMS, TRIPS = 256, 2, 16, 4001
SHARED = 16384  # 16-bit numbers


def rate_kernel(name: str, wavefronts: float) -> Any:
    """A kernel of nothing but `mma`, and `wavefronts` of ldmatrix for each of them."""
    kind, loads = list(FORMATS).index(name), round(wavefronts * SUMS / 4)

    @cuda.jit
    @unrolled
    def rate(X, C, trips):
        numbers = cuda.shared.array(SHARED, np.uint16, alignment=16)
        sums = cuda.local.array((SUMS, 4), float32)
        t = np.uint32(cuda.threadIdx.x)
        for i in range(t, SHARED, THREADS):
            numbers[i] = X[i]
        for i in range(SUMS):
            for j in range(4):
                sums[i, j] = float32(0)
        cuda.syncthreads()
        at = np.uint32(t % 32 * 40 + t // 32 * 1280)  # rows of 80 bytes: no conflicts
        a, b = ldmatrix_x4(numbers, at), ldmatrix_x4(numbers, at + 8)
        trip = 0
        while trip < trips:
            for i in unroll(16):
                if i % 2 == 0 and i // 2 < loads:
                    # Another place each time, of which the compiler knows nothing.
                    at = np.uint32((at + np.uint32(trips & 63) * 8) % 8192)
                    fetched = ldmatrix_x4(numbers, at)
                    if i % 4:
                        a = fetched
                    else:
                        b = fetched
                four = (sums[i, 0], sums[i, 1], sums[i, 2], sums[i, 3])
                if kind == 0:
                    four = mma_m16n8k16_bf16(four, a, (b[0], b[1]))
                elif kind == 1:
                    four = mma_m16n8k8_tf32(four, a, (b[0], b[1]))
                else:
                    four = mma_m16n8k8_f16(four, (a[0], a[1]), b[0])
                sums[i, 0], sums[i, 1], sums[i, 2], sums[i, 3] = four
            trip += 1
        total = float32(0)
        for i in range(SUMS):
            for j in range(4):
                total += sums[i, j]
        C[cuda.grid(1)] = total

    return rate


def main() -> None:
    sms = cuda.get_current_device().MULTIPROCESSOR_COUNT
    blocks = sms * BLOCKS_PER_SM
    random = np.random.default_rng(0).standard_normal(SHARED).astype(np.float32)
    X = cuda.to_device((random.view(np.uint32) >> 16).astype(np.uint16))
    C = cuda.to_device(np.zeros(blocks * THREADS, np.float32))
    for name, (shape, k) in FORMATS.items():
        for wavefronts in (0, 0.5, 1, 1.5, 2):
            kernel = rate_kernel(name, wavefronts)
            took = timing.time_kernel(kernel, blocks, THREADS, X, C, TRIPS)
            products = blocks * THREADS // 32 * SUMS * TRIPS
            speed = took.gflops(products * 2 * 16 * 8 * k) / 1000
            clock = took.sm_clock_mhz
            per_clock = f"{products / sms / (took.median_ms * 1e3 * clock):.2f}" if clock else "?"
            print(
                f"{name:8} {shape:8} {wavefronts:3} wavefronts for each mma: {speed:4.0f} TFLOP/s, "
                f"{per_clock} mma per clock of an SM ({took.device}, {clock} MHz)",
                flush=True,
            )


if __name__ == "__main__":
    main()
