"""Measure what each ingredient of rung 12 gains, one after the other, beside rung 11 and cuBLAS.

    python3 benchmarks/tma_ablation.py [--store]

Needs a Hopper GPU, numba-cuda 0.30 and CuPy or PyTorch. Everyone is checked against float64 first,
at odd shapes, too. Then each size is measured twice. In samples of 10 ms, everyone once in each
round, as `course.py bench` does it. And under load: each contestant works for two seconds without
a pause, so that the GPU is as warm and as slow as it gets, and what follows counts. A share is a
part of cuBLAS's speed with a bfloat16 result, in the same round.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from numba import cuda

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from course_lib.bench import gpu, libraries
from course_lib.bench.contest import Contest
from course_lib.bench.contestants import (
    Contestant,
    Launch,
    MatmulProblem,
    format_of_result,
    rung_in_python,
)
from course_lib.bench.matrices import Matrices
from course_lib.bench.nvml import Nvml
from course_lib.bench.session import short_name
from course_lib.kernels import RUNG_KERNELS
from course_lib.kernels.tma_launch import TmaRung
from course_lib.kernels.tma_steps import STEPS
from course_lib.measurements import ablation, files
from course_lib.measurements.ablation import SAMPLES, SUSTAINED

SIZES, ROUNDS = (4096, 8192), 15
LOADED_ROUNDS, WARM_UP_MS, COUNTED_MS, BATCH_MS = 3, 2000.0, 500.0, 50.0
CUBLAS = "cublas_bf16"  # what the shares are of


# --- who takes part ---------------------------------------------------------------------------


def contestants(cc: tuple[int, int], library: libraries.Library) -> list[Contestant]:
    """The steps from rung 11 to rung 12 without split tiles, and cuBLAS with either result."""

    def ours(name: str, rung: TmaRung) -> Contestant:
        result = format_of_result(rung)

        def prepare(problem: MatmulProblem) -> Launch:
            return rung.prepare(*problem.operands("bfloat16", result))

        return Contestant(name, "rung", "bfloat16", prepare, result, multiples=rung.multiples)

    steps = [ours(name, rung) for name, rung in STEPS.items() if name != "last_turn"]
    names = {"float32": "cublas_f32", "bfloat16": CUBLAS}
    theirs = [each for each in library.contestants(cc) if each.precision == "bfloat16"]
    first = rung_in_python(RUNG_KERNELS["wgmma"])
    return [
        replace(first, name="cp_async"),
        *steps,
        *(replace(each, name=names[each.result]) for each in theirs),
    ]


# --- time -------------------------------------------------------------------------------------


def loaded_ms(launch: Launch, ms: float) -> float:
    """Milliseconds for a product after two seconds of nothing else; `ms` is a first guess.

    The queue never runs dry: two batches are always ahead, so the GPU has no pause to cool in.
    """
    launches = math.ceil(BATCH_MS / ms)
    events = [cuda.event()]
    events[0].record()
    batches = math.ceil((WARM_UP_MS + COUNTED_MS) / BATCH_MS)
    for _ in range(batches):
        for _ in range(launches):
            launch()
        events.append(cuda.event())
        events[-1].record()
        if len(events) > 2:
            events[-3].synchronize()
    events[-1].synchronize()
    at = [float(events[0].elapsed_time(each)) for each in events]
    counted = [(b - a) / launches for a, b in pairwise(at) if a >= WARM_UP_MS]
    return statistics.median(counted or [(at[-1] - at[-2]) / launches])


def loaded(everyone: Sequence[Contestant], problem: MatmulProblem) -> dict[str, list[float]]:
    """Milliseconds of each under load, one value for each round, in an order drawn anew."""
    launches = {each.name: each.prepare(problem) for each in everyone}
    found: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(LOADED_ROUNDS):
        for name in random.sample(list(launches), len(launches)):
            launches[name]()
            guess = 2 * math.prod(problem.shape) / 6e11  # of a GPU with 600 TFLOP/s
            found[name].append(loaded_ms(launches[name], guess))
    return found


# --- what is written --------------------------------------------------------------------------


def rows(
    size: int, when: str, ms: Mapping[str, Sequence[float]], results: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """One row a step: its share of cuBLAS round by round, as quartiles, and its median time."""
    for name, samples in ms.items():
        shares = [theirs / own for theirs, own in zip(ms[CUBLAS], samples, strict=True)]
        low, _, high = statistics.quantiles(shares, n=4, method="inclusive")
        median = statistics.median(samples)
        yield {
            "step": name,
            "size": size,
            "when": when,
            "result": results[name],
            "cluster": 2 if name == "clusters" else 1,
            "share": [round(low, 4), round(high, 4)],
            "ms": float(f"{median:.5g}"),
            "tflops": round(2 * size**3 / median / 1e9, 1),
        }


def measure() -> dict[str, Any]:
    """Check and measure everyone.

    Raises:
        SystemExit: if one of them is wrong or can't run here; nothing is written then.
    """
    device, cc, bus = gpu.device()
    library, nvml = libraries.find(), Nvml(bus)
    if cc[0] != 9:
        raise SystemExit(f"Rung 12 is made for Hopper GPUs, and this is a {device}.")
    everyone = contestants(cc, library)
    if everyone[-1].name != CUBLAS:
        raise SystemExit("Neither CuPy nor PyTorch is here, so there is no cuBLAS to compare with.")
    results = {each.name: each.result for each in everyone}

    def problem_of(shape: tuple[int, int, int]) -> Matrices:
        return Matrices(shape, library, seed=0)

    contest = Contest(everyone, problem_of, gpu.EventClock(nvml), rounds=ROUNDS, budget_seconds=60)
    contest.run(SIZES)
    found: list[dict[str, Any]] = []
    for size in SIZES:
        cells = {entry.name: entry.cell(size) for entry in contest.entries()}
        for entry in contest.entries():
            if cells[entry.name] is None:
                problem = [cell.problem for cell in entry.cells if cell.size == size]
                raise SystemExit(f"{entry.name} at {size}: {(problem or contest.notes)[0]}")
        short = {name: cell.samples_ms for name, cell in cells.items() if cell}
        found += rows(size, SAMPLES, short, results)
        found += rows(size, SUSTAINED, loaded(everyone, problem_of((size, size, size))), results)
    return {
        "device": device,
        "timed": datetime.now(UTC).date().isoformat(),
        "timed_with": f"benchmarks/tma_ablation.py; {ROUNDS} rounds of samples of 10 ms, "
        f"{LOADED_ROUNDS} rounds after {WARM_UP_MS:.0f} ms of load; a share's quartiles",
        "versions": {**gpu.versions(), **library.versions(), "driver": nvml.driver_version()},
        "rows": found,
    }


def main() -> None:
    """Measure, print a table, and with --store keep it."""
    measured = measure()
    print(f"{measured['device']}, {measured['timed']}: share of cuBLAS with a bfloat16 result")
    for row in measured["rows"]:
        low, high = row["share"]
        print(
            f"{row['size']:5} {row['when']:18} {row['step']:12} {low:6.1%} to {high:6.1%} "
            f"{row['ms']:9.4f} ms {row['tflops']:6.1f} TFLOP/s"
        )
    if sys.argv[1:] == ["--store"]:
        rows = [row for row in measured["rows"] if row["step"] != CUBLAS]
        files.store(ablation.FOLDER, short_name(measured["device"]), measured | {"rows": rows})


if __name__ == "__main__":
    main()
