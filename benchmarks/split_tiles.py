"""Measure every way in which rung 12 can compute a product, beside cuBLAS.

    python3 benchmarks/split_tiles.py [SIZE or MxNxK ...]

Needs a Hopper GPU, numba-cuda 0.30 and CuPy or PyTorch. Everyone multiplies bfloat16 to bfloat16 in
samples of 10 ms, once in each round and in random order: cuBLAS; rung 12 with tiles of 256 columns
and of 192, in clusters of one block and of two, whole and with the last turn split; and as a user
gets it. A share is a part of cuBLAS's speed. "w256/2" are whole tiles of 256 columns in pairs.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from course_lib.bench import gpu, libraries
from course_lib.bench.contestants import Contestant, Launch, MatmulProblem
from course_lib.bench.matrices import Matrices
from course_lib.bench.nvml import Nvml
from course_lib.kernels import hopper_launch
from course_lib.kernels import rung_12_tma as rung_12
from course_lib.kernels.tile_plan import STEP, TilePlan

# Turns filled well and badly, with rows of B that are aligned and ragged (no multiple of 64).
SIZES = ("2048", "2560", "3072", "3328", "3584", "4096", "4104", "4352", "4600", "5000", "5120")
SIZES += ("6000", "6144", "7000", "8192")
SIZES += ("4104x4096x4096", "4096x4104x4096", "4096x4096x4104", "512x512x32768")
ROUNDS, SAMPLE_MS, GUESSED_FLOPS = 9, 10.0, 6e14
CUBLAS = "cuBLAS"


def shape_of(text: str) -> tuple[int, int, int]:
    """M, N and K from "5000" or "4096x4104x4096"."""
    numbers = [int(each) for each in text.split("x")]
    M, N, K = numbers * 3 if len(numbers) == 1 else numbers
    return M, N, K


def ours(name: str, plan: TilePlan | None, split: bool = False) -> Contestant:
    """Rung 12 by a plan, with its last turn split or not; None for the plan that suits it."""

    def prepare(problem: MatmulProblem) -> Launch:
        A, B, C = problem.operands("bfloat16", "bfloat16")
        chosen = plan
        if plan and split:
            workers = hopper_launch.multiprocessors() // plan.cluster
            tiles = math.prod(plan.tiles(*C.shape))
            chosen = replace(plan, split=tiles % workers)
        return lambda: rung_12.ROUNDED.start(A, B, C, chosen)

    multiples = rung_12.RUNG.multiples
    return Contestant(name, "rung", "bfloat16", prepare, "bfloat16", multiples=multiples)


def milliseconds(
    everyone: Sequence[Contestant], problem: MatmulProblem, clock: gpu.EventClock
) -> dict[str, float]:
    """The median of each one's rounds."""
    launches = {each.name: each.prepare(problem) for each in everyone}
    M, N, K = problem.shape
    count = max(1, round(SAMPLE_MS / (2e3 * M * N * K / GUESSED_FLOPS)))
    samples: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(ROUNDS):
        for name in random.sample(list(launches), len(launches)):
            samples[name].append(clock.sample(launches[name], count, True).ms)
    return {name: statistics.median(each) for name, each in samples.items()}


def main(sizes: Sequence[str]) -> None:
    """Measure, and print a table."""
    _, cc, bus = gpu.device()
    library, nvml = libraries.find(), Nvml(bus)
    both = [e for e in library.contestants(cc) if e.precision == "bfloat16"]
    theirs = next(each for each in both if each.result == "bfloat16")
    theirs = Contestant(CUBLAS, theirs.kind, theirs.precision, theirs.prepare, theirs.result)
    everyone = [
        theirs,
        *(ours(f"w{n}/{c}", TilePlan(c, n)) for c, n in STEP),
        *(ours(f"s{n}/{c}", TilePlan(c, n), split=True) for c, n in STEP),
        ours("as it is", None),
    ]
    clock = gpu.EventClock(nvml)
    print(
        f"{'M x N x K':>16} {'cuBLAS TFLOP/s':>15}" + "".join(f"{e.name:>10}" for e in everyone[1:])
    )
    for text in sizes or SIZES:
        M, N, K = shape_of(text)
        ms = milliseconds(everyone, Matrices((M, N, K), library, seed=0), clock)
        rate = 2 * M * N * K / ms[CUBLAS] / 1e9
        shares = "".join(f"{ms[CUBLAS] / ms[each.name]:>10.3f}" for each in everyone[1:])
        print(f"{text:>16} {rate:>15.0f}{shares}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
