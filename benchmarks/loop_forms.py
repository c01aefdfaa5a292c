"""Time the matmul of lesson 03 as a student types it, but with its loop over k as a `while`.

    python3 benchmarks/loop_forms.py [--store]    needs a GPU

With `range` it is the rung `coalesced`, which the ladder times. (`coalesced_while` of the ladder is
another kernel: it asks for 16 steps of k together.)
"""

from __future__ import annotations

import json
import statistics
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numba import cuda, float32

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from course_lib.bench.session import short_name
from course_lib.measurements import files, memory

SIZE, EDGE, ROUNDS = 4096, 32, 15


@cuda.jit
def coalesced(A, B, C):
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        k = 0
        while k < A.shape[1]:
            total += A[row, k] * B[k, column]
            k += 1
        C[row, column] = total


def milliseconds() -> float:
    """The median of the rounds, by CUDA's events, after a launch that is not counted."""
    A, B = np.random.default_rng(1).uniform(-1, 1, (2, SIZE, SIZE)).astype(np.float32)
    arrays = cuda.to_device(A), cuda.to_device(B), cuda.device_array((SIZE, SIZE), np.float32)
    launch = coalesced[(SIZE // EDGE, SIZE // EDGE), (EDGE, EDGE)]
    launch(*arrays)
    assert np.allclose(arrays[2].copy_to_host()[:8], A[:8].astype(np.float64) @ B, atol=1e-2)
    samples = []
    for _ in range(ROUNDS):
        begin, end = cuda.event(), cuda.event()
        begin.record()
        launch(*arrays)
        end.record()
        end.synchronize()
        samples.append(cuda.event_elapsed_time(begin, end))
    return statistics.median(samples)


def measure() -> dict[str, Any]:
    """What the file says of it."""
    gpu = cuda.get_current_device()
    return {
        "device": gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name,
        "loops": {
            "timed": datetime.now(UTC).date().isoformat(),
            "timed_with": f"Numba, blocks of {EDGE} x {EDGE}, median of {ROUNDS} launches",
            "rows": [{"kernel": "coalesced", "form": "while", "size": SIZE, "ms": milliseconds()}],
        },
    }


def main() -> None:
    """Measure, print, and with --store write the file; what other scripts measured stays."""
    measured = measure()
    print(json.dumps(measured, indent=1))
    if sys.argv[1:] == ["--store"]:
        files.add(memory.FOLDER, short_name(measured["device"]), measured)


if __name__ == "__main__":
    main()
