"""Time the course's emulator against Numba's CUDA simulator, side by side on this machine.

    python benchmarks/emulator.py             every kernel at three sizes: some minutes, nearly
                                              all of them Numba's simulator's
    python benchmarks/emulator.py --quick     three kernels, small: half a minute
    python benchmarks/emulator.py --only scan one kernel

Both run the same kernel on the same arrays, and both results are held against NumPy in float64
before any time is printed. Numba's simulator runs once, in a process of its own (it is chosen by
an environment variable); ours runs several times after a warm-up, and the median counts. Beside
the time on the clock stands the processor time, which other programs disturb less; the rules are
judged by it. To add a kernel, add a `Case` to emulator_kernels.py.
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

# The check of a product runs in BLAS, whose threads go on spinning into the next run's processor
# time if there are several. It must be said before NumPy is imported.
os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1")

import numba
import numpy as np
from numba import cuda

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from emulator_kernels import CASES  # noqa: E402

TOLERANCE = 1e-5  # of the largest element; float32 sums of a few hundred terms stay well inside
MINUTE = 60.0  # of processor time: what Numba's simulator may take for a size to count
PATIENCE = 5 * MINUTE  # by the clock, on a machine that is busy with other things
# How many times as fast ours is: at the size named, or else at the largest of the kernel's sizes
# that Numba's simulator finishes within a minute.
PROMISES = {"tiled matmul": (1000, 128)}
PROMISE = 300

PLAIN: dict[str, Any] = {"counters": False, "races": False}
EVERYTHING: dict[str, Any] = {"counters": True, "races": True}


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        options: what `course_lib.emulator.emulate` is told.
        beside_numba: also run Numba's simulator, for the ratio.
    """

    case: str
    size: int
    label: str
    options: dict[str, Any]
    beside_numba: bool
    repeats: int = 7

    @property
    def title(self) -> str:
        return f"{self.size}{CASES[self.case].power}"


ROWS = (
    *(
        Row(name, size, "everything", EVERYTHING, True)
        for name, case in CASES.items()
        for size in case.sizes
    ),
    Row("tiled matmul", 128, "plain", PLAIN, True),
    Row("tiled matmul", 512, "everything", EVERYTHING, False, repeats=3),
)
QUICK_ROWS = tuple(
    Row(name, CASES[name].sizes[0], "everything", EVERYTHING, True)
    for name in ("tiled matmul", "naive matmul", "histogram")
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
        must_be_right(output, case.expected(*inputs), f"our emulator, {row.case} {row.title}")
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


def run_numba(name: str, size: int) -> Seconds | None:
    """The same in a process of its own; None if it takes too long."""
    command = [sys.executable, __file__, "--numba-simulator", name, str(size)]
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return None
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
    slow: dict[tuple[str, int], Seconds | None] = {}
    for row in rows:
        key = (row.case, row.size)
        if row.beside_numba and key not in slow:
            print(f"Numba's simulator: {row.case} {row.title} …", file=sys.stderr, flush=True)
            slow[key] = run_numba(*key)
        print(f"ours: {row.case} {row.title}, {row.label} …", file=sys.stderr, flush=True)
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
        "| Numba's simulator, processor time | ratio by the clock, of processor times |",
        "|---|---|---|---|---|---|",
    ]
    for result in results:
        row = result.row
        clocks = [1000 * run.clock for run in result.ours]
        ours = f"{1000 * result.median('clock'):.1f} ms ({min(clocks):.1f} to {max(clocks):.1f})"
        ours += f", {1000 * result.median('processor'):.1f} ms"
        theirs = ratios = "not run"
        if result.numba is not None:
            theirs = f"{result.numba.clock:.1f} s, {result.numba.processor:.1f} s"
            ratios = f"{result.ratio('clock'):.0f}x, {result.ratio('processor'):.0f}x"
        elif row.beside_numba:
            theirs = ratios = f"over {PATIENCE:.0f} s"
        cells = (row.case, row.title, row.label, ours, theirs, ratios)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


@dataclass(frozen=True)
class Verdict:
    """Whether a promise was kept: by which size, and how many times as fast ours was there."""

    case: str
    title: str
    ratio: float
    promised: int

    @property
    def kept(self) -> bool:
        return self.ratio >= self.promised

    def __str__(self) -> str:
        says = "kept" if self.kept else "BROKEN"
        return (
            f"{self.case} at {self.title}: {self.ratio:.0f}x, "
            f"promised {self.promised}x or more: {says}"
        )


def verdicts(results: Iterable[Result]) -> list[Verdict]:
    """Each kernel's promise, at the size that it is about."""
    chosen: dict[str, Result] = {}
    for result in results:
        name, size, theirs = result.row.case, result.row.size, result.numba
        if result.row.options != EVERYTHING or theirs is None:
            continue
        _, at = PROMISES.get(name, (PROMISE, None))
        counts = size == at if at else min(theirs.clock, theirs.processor) <= MINUTE
        if counts and (name not in chosen or chosen[name].row.size < size):
            chosen[name] = result
    return [
        Verdict(
            name,
            each.row.title,
            each.ratio("processor") or 0,
            PROMISES.get(name, (PROMISE, None))[0],
        )
        for name, each in chosen.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three kernels, small")
    parser.add_argument("--only", choices=CASES, help="one kernel")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--numba-simulator", nargs=2, metavar=("CASE", "SIZE"), help="internal")
    options = parser.parse_args()
    if options.numba_simulator:
        name, size = options.numba_simulator
        print(json.dumps(asdict(run_numba_here(name, int(size)))))
        return
    here = machine()
    rows = QUICK_ROWS if options.quick else ROWS
    results = measure([row for row in rows if options.only in (None, row.case)])
    print(", ".join(f"{name} {value}" for name, value in here.items()))
    print(table(results))
    if not options.quick:
        print("\n".join(["", "Promises, by processor time:", *map(str, verdicts(results))]))
    if options.json:
        record = {"machine": here, "results": [asdict(result) for result in results]}
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
