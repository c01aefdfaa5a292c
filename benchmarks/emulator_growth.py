"""Measure how the emulator's time grows with threads, steps and blocks, and what memory it takes.

    python benchmarks/emulator_growth.py             a minute or two
    python benchmarks/emulator_growth.py --quick     some seconds

Everything is on: counters and races. Times are processor times, the median of several runs after
a warm-up; each result is held against NumPy first. Memory is the peak of a process of its own.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numba import cuda, float32

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from emulator import machine, must_be_right  # noqa: E402
from emulator_kernels import CASES  # noqa: E402

from course_lib.emulator import Budget, emulate  # noqa: E402

MATMUL_SIZES = (128, 256, 512, 1024)


def turns(x, out, count):
    """Load, multiply and add, `count` times for each thread; then a barrier in each turn."""
    part = cuda.shared.array(1024, float32)
    i = cuda.grid(1)
    tx = cuda.threadIdx.x
    total = float32(0)
    for _ in range(count):
        part[tx] = x[i]
        cuda.syncthreads()
        total += part[tx] * float32(0.5)
    out[i] = total


@dataclass(frozen=True)
class Point:
    """One launch: its size, and how long it took."""

    blocks: int
    threads: int
    steps: int
    seconds: float

    @property
    def nanoseconds(self) -> float:
        """For one step of one thread."""
        return 1e9 * self.seconds / (self.blocks * self.threads * self.steps)


def median_seconds(action: Callable[[], object], repeats: int) -> float:
    """Processor time of an action, without its first run."""
    times = []
    for _ in range(1 + repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return statistics.median(times[1:])


def point(blocks: int, threads: int, steps: int, repeats: int) -> Point:
    """Time the loop kernel at one size."""
    x = np.random.default_rng(1).random(blocks * threads, dtype=np.float32)
    out = np.zeros_like(x)
    launch = emulate(turns, budget=Budget(steps=10**9))[blocks, threads]
    seconds = median_seconds(lambda: launch(x, out, np.int64(steps)), repeats)
    expected = np.zeros_like(x)
    for _ in range(steps):  # with float32's own rounding
        expected += x * np.float32(0.5)
    must_be_right(out, expected, f"{blocks} x {threads}, {steps} steps")
    return Point(blocks, threads, steps, seconds)


def growth(name: str, points: list[Point]) -> str:
    """A Markdown table of one quantity's growth."""
    lines = [
        f"| {name} | processor time | for one thread and step | times the line before |",
        "|---|---|---|---|",
    ]
    before = None
    for each in points:
        ratio = "–" if before is None else f"{each.seconds / before.seconds:.1f}"
        size = getattr(each, name.split()[0])
        lines.append(
            f"| {size} | {1000 * each.seconds:.1f} ms | {each.nanoseconds:.1f} ns | {ratio} |"
        )
        before = each
    return "\n".join(lines)


def peak_memory() -> int:
    """The most bytes that this process has held."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would also count what the parent held when it forked
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) * 1024
    import resource

    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def matmul_here(size: int) -> dict[str, float]:
    """Run the tiled matrix multiplication once; its processor time and the memory it took."""
    case = CASES["tiled matmul"]
    *inputs, output = case.arrays(size)
    launch = emulate(case.kernel, budget=Budget(steps=10**9))[case.launch(size)]
    before = peak_memory()
    start = time.process_time()
    profile = launch(*inputs, output)
    seconds = time.process_time() - start
    peak = peak_memory()
    if profile.findings:
        raise SystemExit(f"the emulator finds fault with the kernel: {profile.findings}")
    must_be_right(output, case.expected(*inputs), f"tiled matmul {size}")
    return {"seconds": seconds, "before": before, "peak": peak}


def matmul(size: int) -> dict[str, float]:
    """The same in a process of its own, so that the peak is this run's."""
    command = [sys.executable, __file__, "--matmul", str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def matmul_table(sizes: tuple[int, ...]) -> str:
    """The tiled matrix multiplication: time, and memory of the whole process."""
    lines = [
        "| tiled matmul | processor time | for one multiply-add | peak memory | before launch |",
        "|---|---|---|---|---|",
    ]
    for size in sizes:
        run = matmul(size)
        each = 1e9 * run["seconds"] / size**3
        peak, before = (f"{run[name] / (1 << 20):.0f} MiB" for name in ("peak", "before"))
        lines.append(f"| {size}³ | {run['seconds']:.2f} s | {each:.1f} ns | {peak} | {before} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--matmul", type=int, metavar="SIZE", help="internal")
    options = parser.parse_args()
    if options.matmul:
        print(json.dumps(matmul_here(options.matmul)))
        return
    repeats, most = (2, 4) if options.quick else (5, 5)
    powers = [4**power for power in range(most + 1)]
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    tables = {
        "blocks (of 256 threads, 16 steps)": [point(n, 256, 16, repeats) for n in powers],
        "threads (in each of 64 blocks, 16 steps)": [
            point(64, n, 16, repeats) for n in (32, 64, 128, 256, 512, 1024)
        ],
        "steps (of 64 blocks of 256 threads)": [point(64, 256, n, repeats) for n in powers],
    }
    for name, points in tables.items():
        print("", growth(name, points), sep="\n")
    print("", matmul_table(MATMUL_SIZES[:2] if options.quick else MATMUL_SIZES), sep="\n")


if __name__ == "__main__":
    main()
