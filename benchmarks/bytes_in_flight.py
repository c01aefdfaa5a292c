"""Measure what a waiting GPU moves: GB/s by number of threads, and how long one load takes.

    python3 benchmarks/bytes_in_flight.py [--store]    needs a GPU

The kernel is the task `grid_stride` of lesson 01, on an array that no cache holds, with more and
more threads; a thread has one load under way at a time. The latency is that of a chain of loads,
each of which says where the next one reads, through memories of growing size.
"""

from __future__ import annotations

import json
import statistics
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from course_lib.bench.session import short_name
from course_lib.measurements import files, memory

COUNT = 1 << 26  # float32 numbers: 256 MiB, several times any L2
CHAINS_KIB = {"L1": 16, "L2": 4096, "DRAM": 1 << 18}
LINE = 128  # bytes from one link of a chain to the next: each in a line of its own
FEWEST_STEPS, ROUNDS = 20_000, 5


@cuda.jit
def grid_stride(x, y):
    first = cuda.grid(1)
    for i in range(first, x.shape[0], cuda.gridsize(1)):
        y[i] = 2 * x[i]


@cuda.jit
def follow(chain, steps, last):
    at = 0
    for _ in range(steps):
        at = chain[at]
    last[0] = at


def milliseconds(kernel, grid, block, *arguments) -> float:
    """The median of a few launches, by CUDA's events, after one that is not counted."""
    kernel[grid, block](*arguments)
    samples = []
    for _ in range(ROUNDS):
        begin, end = cuda.event(), cuda.event()
        begin.record()
        kernel[grid, block](*arguments)
        end.record()
        end.synchronize()
        samples.append(cuda.event_elapsed_time(begin, end))
    return statistics.median(samples)


def speeds(most_threads: int) -> list[dict[str, float]]:
    """GB/s read and written together, for 1, 32, 1024, … threads."""
    x = cuda.to_device(np.ones(COUNT, np.float32))
    y = cuda.device_array_like(x)
    found = []
    for blocks, block in [(1, 1), (1, 32), (1, 128), *((b, 256) for b in doubling(most_threads))]:
        ms = milliseconds(grid_stride, blocks, block, x, y)
        found.append({"threads": blocks * block, "gb_per_s": rounded(2 * x.nbytes / ms / 1e6)})
    return found


def doubling(most_threads: int) -> list[int]:
    """Blocks of 256: 1, 4, 16, … and as many as the GPU holds at once."""
    most = most_threads // 256
    return [4**n for n in range(12) if 4**n < most] + [most]


def latency_ns(kib: int) -> float:
    """How long one load takes in a chain that visits every line of so much memory."""
    links, apart = kib * 1024 // LINE, LINE // 8
    order = np.random.default_rng(1).permutation(links)
    chain = np.zeros(links * apart, np.int64)
    chain[order * apart] = np.roll(order, -1) * apart
    last = cuda.device_array(1, np.int64)
    steps = max(links, FEWEST_STEPS)  # all of it, so that the next round finds nothing nearer
    return milliseconds(follow, 1, 1, cuda.to_device(chain), steps, last) * 1e6 / steps


def rounded(value: float) -> float:
    """Four figures are more than a clock gives."""
    return float(f"{value:.4g}")


def measure() -> dict[str, Any]:
    """What the file says of it."""
    gpu = cuda.get_current_device()
    most = gpu.MULTIPROCESSOR_COUNT * gpu.MAX_THREADS_PER_MULTIPROCESSOR
    return {
        "device": gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name,
        "timed": datetime.now(UTC).date().isoformat(),
        "array_bytes": 4 * COUNT,
        "timed_with": f"the task grid_stride on {4 * COUNT} bytes of x, CUDA events",
        "speeds": speeds(most),
        "latency_ns": {place: rounded(latency_ns(kib)) for place, kib in CHAINS_KIB.items()},
    }


def main() -> None:
    """Measure, print, and with --store write the file; what `cache_model.py` counted stays."""
    measured = measure()
    print(json.dumps(measured, indent=1))
    if sys.argv[1:] == ["--store"]:
        files.add(memory.FOLDER, short_name(measured["device"]), measured)


if __name__ == "__main__":
    main()
