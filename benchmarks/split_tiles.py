"""Measure every way in which rung 12 can compute a product, beside cuBLAS.

    python3 benchmarks/split_tiles.py [SIZE or MxNxK ...]

Needs a Hopper GPU, numba-cuda 0.30 and CuPy or PyTorch. Everyone multiplies bfloat16 to bfloat16 in
samples of 10 ms, once in each round and in random order: cuBLAS; rung 12 in the ways that
`tile_plan.ways_to_compute` names; and as a user gets it. A share is a part of cuBLAS's speed.
"128x256/2" are tiles of 128 rows and 256 columns in pairs of blocks, s with the last turn split, b
if the two lie beside each other.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from course_lib.bench import gpu, libraries
from course_lib.bench.contest import MOST_LAUNCHES
from course_lib.bench.contestants import Contestant, Launch, MatmulProblem
from course_lib.bench.matrices import Matrices
from course_lib.bench.nvml import Nvml
from course_lib.kernels import hopper_launch
from course_lib.kernels import rung_12_tma as rung_12
from course_lib.kernels.tile_plan import ROWS, TilePlan, plan_for, steps_of, ways_to_compute

# Turns filled well and badly, with rows of B that are aligned and ragged (no multiple of 64).
SIZES = ("2048", "2560", "3072", "3328", "3584", "4096", "4104", "4352", "4600", "5000", "5120")
SIZES += ("6000", "6144", "7000", "8192")
SIZES += ("4104x4096x4096", "4096x4104x4096", "4096x4096x4104", "512x512x32768")
ROUNDS, SAMPLE_MS, GUESSED_FLOPS = 9, 10.0, 6e14
CUBLAS, USER = "cuBLAS", "as it is"
TURNED_ONES = 3  # of all turned tiles; each is a kernel to compile


def shape_of(text: str) -> tuple[int, int, int]:
    """M, N and K from "5000" or "4096x4104x4096"."""
    numbers = [int(each) for each in text.split("x")]
    M, N, K = numbers * 3 if len(numbers) == 1 else numbers
    return M, N, K


def name_of(plan: TilePlan) -> str:
    """A short name: a block's tile, rows by columns, and blocks of a cluster."""
    how = ("s" if plan.split else "") + ("b" if plan.beside else "")
    return f"{plan.rows}x{plan.columns}/{plan.cluster}{how}"


def ways(M: int, N: int, K: int, multiprocessors: int) -> list[TilePlan]:
    """The plan for it, every usual tile, and of turned ones those that are counted the best."""
    everything = list(ways_to_compute(M, N, multiprocessors))
    usual = [way for way in everything if way.rows == ROWS]
    turned = sorted(
        (way for way in everything if way.rows != ROWS),
        key=lambda way: steps_of(way, (M, N, K), multiprocessors),
    )
    return usual + turned[:TURNED_ONES]


def ours(name: str, plan: TilePlan | None) -> Contestant:
    """Rung 12 by a plan; None for the one that suits the product."""

    def prepare(problem: MatmulProblem) -> Launch:
        rung = replace(rung_12.ROUNDED, plan=plan)
        return rung.prepare(*problem.operands("bfloat16", "bfloat16"))

    multiples = rung_12.RUNG.multiples
    return Contestant(name, "rung", "bfloat16", prepare, "bfloat16", multiples=multiples)


def milliseconds(
    everyone: Sequence[Contestant], problem: MatmulProblem, clock: gpu.EventClock
) -> dict[str, float]:
    """The median of each one's rounds."""
    launches = {each.name: each.prepare(problem) for each in everyone}
    M, N, K = problem.shape
    count = round(SAMPLE_MS / (2e3 * M * N * K / GUESSED_FLOPS))
    count = min(max(1, count), MOST_LAUNCHES)
    samples: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(ROUNDS):
        for name in random.sample(list(launches), len(launches)):
            samples[name].append(clock.sample(launches[name], count, True).ms)
    return {name: statistics.median(each) for name, each in samples.items()}


def main(sizes: Sequence[str]) -> None:
    """Measure, and print each size's ways, the fastest first."""
    _, cc, bus = gpu.device()
    library, nvml = libraries.find(), Nvml(bus)
    both = [e for e in library.contestants(cc) if e.precision == "bfloat16"]
    theirs = next(each for each in both if each.result == "bfloat16")
    theirs = Contestant(CUBLAS, theirs.kind, theirs.precision, theirs.prepare, theirs.result)
    clock = gpu.EventClock(nvml)
    for text in sizes or SIZES:
        M, N, K = shape_of(text)
        plans = ways(M, N, K, hopper_launch.multiprocessors())
        chosen = name_of(plan_for(M, N, K, hopper_launch.multiprocessors()))
        everyone = [theirs, *(ours(name_of(plan), plan) for plan in plans), ours(USER, None)]
        ms = milliseconds(everyone, Matrices((M, N, K), library, seed=0), clock)
        rate = 2 * M * N * K / ms.pop(CUBLAS) / 1e9
        shares = {name: 2 * M * N * K / each / 1e9 / rate for name, each in ms.items()}
        user = shares.pop(USER)
        best = sorted(shares, key=shares.__getitem__, reverse=True)
        print(f"{text}: cuBLAS {rate:.0f} TFLOP/s, a user gets {chosen} {user:.1%}")
        print("   ", "  ".join(f"{name} {shares[name]:.1%}" for name in best), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
