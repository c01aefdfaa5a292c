"""Three slow kernels of lesson 08b: the counters first, the source only with the reveal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from course_lib.emulator import Profile
from course_lib.questions.runs import Dimensions, ones, run

ROW_TOTALS = """\
@cuda.jit
def row_totals(A, totals):
    row = cuda.grid(1)
    if row < A.shape[0]:
        total = float32(0)
        for column in range(A.shape[1]):
            total += A[row, column]
        totals[row] = total
"""
SUMS_OF_SIXTEEN = """\
@cuda.jit
def sums_of_sixteen(x, sums):
    numbers = cuda.shared.array((128, 16), float32)
    t, first = cuda.threadIdx.x, 128 * 16 * cuda.blockIdx.x
    for n in range(t, 128 * 16, 128):
        numbers[n // 16, n % 16] = x[first + n]
    cuda.syncthreads()
    total = float32(0)
    for k in range(16):
        total += numbers[t, k]
    sums[128 * cuda.blockIdx.x + t] = total
"""
MOVING_AVERAGE = """\
@cuda.jit
def moving_average(x, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        total = float32(0)
        for j in range(32):
            total += x[i + j]
        y[i] = total / float32(32)
"""


@dataclass(frozen=True)
class SlowKernel:
    """One of them, and how it is launched: shapes of its float32 input and output."""

    source: str
    grid: Dimensions
    block: Dimensions
    reads: tuple[int, ...]
    writes: tuple[int, ...]


KERNELS = (
    SlowKernel(ROW_TOTALS, 8, 128, (1024, 256), (1024,)),
    SlowKernel(SUMS_OF_SIXTEEN, 16, 128, (32_768,), (2048,)),
    SlowKernel(MOVING_AVERAGE, 256, 128, (32_799,), (32_768,)),
)


@dataclass(frozen=True)
class Symptoms:
    """What the counters of a launch say, divided as one reads them.

    Attributes:
        load_sectors, store_sectors: of 32 bytes, for each request of a warp to global memory.
        times_loaded: how often each number that is loaded at all is loaded, on average.
        wavefronts: for each load of a warp from shared memory; 0 where there is none.
        branch_efficiency: the share of branches that a warp takes as one.
    """

    load_sectors: float
    store_sectors: float
    times_loaded: float
    wavefronts: float
    branch_efficiency: float

    def __str__(self) -> str:
        shared = f"{self.wavefronts:.3g}" if self.wavefronts else "no shared memory"
        return "\n".join(
            (
                f"global loads: sectors for each request   {self.load_sectors:.3g}",
                f"global stores: sectors for each request  {self.store_sectors:.3g}",
                f"loads of each number of the input        {self.times_loaded:.3g}",
                f"shared loads: wavefronts for each        {shared}",
                f"branch efficiency                        {self.branch_efficiency:.0%}",
            )
        )


@cache
def symptoms(number: int) -> Symptoms:
    """Launches kernel `number`, from 1 on, on the emulator, and divides its counters."""
    kernel = KERNELS[number - 1]
    profile = run(
        kernel.source, kernel.grid, kernel.block, ones(*kernel.reads), np.zeros(kernel.writes, "f4")
    )
    return _read(profile, next(iter(profile.arrays)))


def source(number: int) -> str:
    """The source of kernel `number`, from 1 on."""
    return KERNELS[number - 1].source


def _read(profile: Profile, given: str) -> Symptoms:
    traffic, loads = profile.arrays[given], profile.shared_load_requests
    return Symptoms(
        load_sectors=profile.global_load_sectors / profile.global_load_requests,
        store_sectors=profile.global_store_sectors / profile.global_store_requests,
        times_loaded=traffic.loaded_elements / traffic.distinct_elements_loaded,
        wavefronts=profile.shared_load_wavefronts / loads if loads else 0,
        branch_efficiency=profile.branch_efficiency,
    )
