"""Time the course's emulator against Numba's CUDA simulator, side by side on this machine.

    python benchmarks/emulator.py            about two minutes, most of it Numba's simulator
    python benchmarks/emulator.py --quick    a few seconds, at 32 x 32 x 32

Both run the same kernel on the same arrays, and both results are held against NumPy in float64
before any time is printed. Numba's simulator runs once, in a process of its own (it is chosen by
an environment variable); ours runs several times after a warm-up, and the median counts. Beside
the time on the clock stands the processor time, which other programs disturb less.
To add a kernel, add a `Case` to `CASES`; to add a comparison, add a `Row` to `ROWS`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import cuda, float32

sys.path.insert(0, str(Path(__file__).parents[1]))

TILE = 16
TOLERANCE = 1e-5  # of the largest element; float32 sums of a few hundred terms stay well inside


def tiled(A, B, C):
    """The tiled matrix multiplication of lesson 05."""
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x = cuda.blockIdx.x * TILE + tx
    y = cuda.blockIdx.y * TILE + ty
    total = float32(0)
    for t in range((A.shape[1] + TILE - 1) // TILE):
        sA[ty, tx] = float32(0)
        sB[ty, tx] = float32(0)
        if y < A.shape[0] and t * TILE + tx < A.shape[1]:
            sA[ty, tx] = A[y, t * TILE + tx]
        if t * TILE + ty < B.shape[0] and x < B.shape[1]:
            sB[ty, tx] = B[t * TILE + ty, x]
        cuda.syncthreads()
        for k in range(TILE):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = total


def naive(A, B, C):
    """One thread for each element of C, everything from global memory."""
    x, y = cuda.grid(2)
    if y < C.shape[0] and x < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[y, k] * B[k, x]
        C[y, x] = total


@dataclass(frozen=True)
class Case:
    """A kernel with its arrays and its launch, for a given size."""

    kernel: Callable[..., None]
    arrays: Callable[[int], tuple[np.ndarray, ...]]  # the last one is the output
    launch: Callable[[int], tuple[Any, Any]]
    expected: Callable[..., np.ndarray]  # from the inputs, in float64


def square_matrices(size: int) -> tuple[np.ndarray, ...]:
    """A, B and an output full of NaN."""
    random = np.random.default_rng(size)
    a, b = (random.standard_normal((size, size), dtype=np.float32) for _ in "AB")
    return a, b, np.full((size, size), np.nan, np.float32)


def one_thread_per_element(size: int) -> tuple[Any, Any]:
    """Grid and block of 16 x 16 threads."""
    blocks = -(-size // TILE)
    return (blocks, blocks), (TILE, TILE)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What a matrix multiplication should give."""
    return a.astype(np.float64) @ b.astype(np.float64)


CASES = {
    "tiled": Case(tiled, square_matrices, one_thread_per_element, product),
    "naive": Case(naive, square_matrices, one_thread_per_element, product),
}

PLAIN: dict[str, Any] = {"counters": False, "races": False}
EVERYTHING: dict[str, Any] = {"counters": True, "races": True}


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        options: what `course_lib.emulator.emulate` is told.
        beside_numba: also run Numba's simulator, for the ratio.
        promise: what the course promises of this line, for the reader to compare.
    """

    case: str
    size: int
    label: str
    options: dict[str, Any]
    beside_numba: bool
    promise: str = ""
    repeats: int = 7


ROWS = (
    Row("tiled", 128, "plain", PLAIN, True, "2000x or more"),
    Row("tiled", 128, "counters and races", EVERYTHING, True, "400x or more"),
    Row("tiled", 512, "counters and races", EVERYTHING, False, "under 15 s", repeats=3),
)
QUICK_ROWS = (
    Row("tiled", 32, "plain", PLAIN, True),
    Row("tiled", 32, "counters and races", EVERYTHING, True),
    Row("naive", 32, "counters and races", EVERYTHING, True),
)


@dataclass(frozen=True)
class Seconds:
    """How long one run took, by the clock and in processor time."""

    clock: float
    processor: float


@dataclass(frozen=True)
class Result:
    """A measured row: every run of ours, and Numba's simulator's one run."""

    row: Row
    ours: list[Seconds]
    numba: Seconds | None = None

    def median(self, which: str) -> float:
        """Of our runs; `which` is "clock" or "processor"."""
        return statistics.median(getattr(run, which) for run in self.ours)

    def ratio(self, which: str) -> float | None:
        """How many times as long Numba's simulator took."""
        return None if self.numba is None else getattr(self.numba, which) / self.median(which)


def timed(action: Callable[[], Any]) -> tuple[Any, Seconds]:
    """What the action returns, and how long it took."""
    clock, processor = time.perf_counter(), time.process_time()
    value = action()
    return value, Seconds(time.perf_counter() - clock, time.process_time() - processor)


def run_ours(row: Row) -> list[Seconds]:
    """Every run on our emulator, after one warm-up."""
    from course_lib.emulator import emulate

    case = CASES[row.case]
    emulation = emulate(case.kernel, **row.options)[case.launch(row.size)]
    runs = []
    for _ in range(1 + row.repeats):
        arrays = *inputs, output = case.arrays(row.size)
        profile, seconds = timed(partial(emulation, *arrays))
        runs.append(seconds)
        must_be_right(output, case.expected(*inputs), f"our emulator, {row.case} {row.size}")
        if profile.findings and row.options["races"]:
            raise SystemExit(f"our emulator finds fault with {row.case}: {profile.findings}")
    return runs[1:]


def run_numba_here(name: str, size: int) -> Seconds:
    """One run on Numba's simulator, which must be switched on in this process."""
    if not numba.config.ENABLE_CUDASIM:  # type: ignore[attr-defined]
        raise SystemExit("NUMBA_ENABLE_CUDASIM is not set")
    case = CASES[name]
    arrays = *inputs, output = case.arrays(size)
    launch = cuda.jit(case.kernel)[case.launch(size)]
    _, seconds = timed(partial(launch, *arrays))
    must_be_right(output, case.expected(*inputs), f"Numba's simulator, {name} {size}")
    return seconds


def run_numba(name: str, size: int) -> Seconds:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--numba-simulator", name, str(size)]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return Seconds(**json.loads(done.stdout))


def must_be_right(output: np.ndarray, expected: np.ndarray, who: str) -> None:
    """No time is printed for a wrong result. NaN is wrong."""
    error = np.abs(output - expected).max() / np.abs(expected).max()
    if not error <= TOLERANCE:
        raise SystemExit(f"{who}: wrong result, relative error {error:.2g}")


def measure(rows: Iterable[Row]) -> list[Result]:
    """Run every row; Numba's simulator only once for each kernel and size."""
    results = []
    slow: dict[tuple[str, int], Seconds] = {}
    for row in rows:
        key = (row.case, row.size)
        if row.beside_numba and key not in slow:
            print(f"Numba's simulator: {row.case} {row.size} …", file=sys.stderr, flush=True)
            slow[key] = run_numba(*key)
        print(f"ours: {row.case} {row.size}, {row.label} …", file=sys.stderr, flush=True)
        results.append(Result(row, run_ours(row), slow.get(key) if row.beside_numba else None))
    return results


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count()
    return {
        "processor": processor(),
        "cores": str(cores),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "simulator": getattr(cuda, "implementation", "unknown"),
        "load before": " ".join(f"{load:.1f}" for load in load_averages()),
        "date": time.strftime("%Y-%m-%d"),
    }


def load_averages() -> tuple[float, ...]:
    """How busy the machine is with other things: over one, five and fifteen minutes."""
    return os.getloadavg() if hasattr(os, "getloadavg") else ()


def processor() -> str:
    """The processor's name, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def table(results: Iterable[Result]) -> str:
    """The results as a Markdown table."""
    lines = [
        "| kernel | size | ours runs with | ours: median (min to max), processor time "
        "| Numba's simulator, processor time | ratio by the clock, of processor times | promised |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in results:
        row = result.row
        clocks = [run.clock for run in result.ours]
        ours = f"{result.median('clock'):.4f} s ({min(clocks):.4f} to {max(clocks):.4f})"
        ours += f", {result.median('processor'):.4f} s"
        theirs = ratios = "not run"
        if result.numba is not None:
            theirs = f"{result.numba.clock:.1f} s, {result.numba.processor:.1f} s"
            ratios = f"{result.ratio('clock'):.0f}x, {result.ratio('processor'):.0f}x"
        cells = (row.case, f"{row.size}³", row.label, ours, theirs, ratios, row.promise or "–")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="32 x 32 x 32 only")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--numba-simulator", nargs=2, metavar=("CASE", "SIZE"), help="internal")
    options = parser.parse_args()
    if options.numba_simulator:
        name, size = options.numba_simulator
        print(json.dumps(asdict(run_numba_here(name, int(size)))))
        return
    here = machine()
    results = measure(QUICK_ROWS if options.quick else ROWS)
    print(", ".join(f"{name} {value}" for name, value in here.items()))
    print(table(results))
    if options.json:
        record = {"machine": here, "results": [asdict(result) for result in results]}
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
