"""Time the matmuls of lessons 02 and 03 as a student types them, with `range` and with `while`.

    python3 benchmarks/loop_forms.py [--store]    needs a GPU

The kernels are the answers of the tasks `naive_by_rows` and `matmul_coalesced`, whose loop is a
`range`; the other form has the same lines and counts k itself. Each round launches all four.
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
from course_lib.curriculum import TASKS
from course_lib.measurements import files, memory

SIZE, EDGE, ROUNDS = 4096, 32, 15
KERNELS = {"naive": "naive_by_rows", "coalesced": "matmul_coalesced"}
RANGE = "        for k in range(A.shape[1]):\n"
WHILE = "        k = 0\n        while k < A.shape[1]:\n"
PRODUCT = "            total += A[row, k] * B[k, column]\n"


def forms() -> dict[str, Any]:
    """"naive, range" and so on -> the kernel, compiled when it is first launched."""
    texts = {}
    for kernel, task in KERNELS.items():
        text = TASKS[task].answer
        texts[f"{kernel}, range"] = text
        counted = text.replace(RANGE, WHILE).replace(PRODUCT, PRODUCT + "            k += 1\n")
        assert counted.count("k += 1") == 1
        texts[f"{kernel}, while"] = counted
    found = {}
    for name, text in texts.items():
        scope: dict[str, Any] = {"cuda": cuda, "float32": float32}
        exec(compile(text, f"<{name}>", "exec"), scope)
        found[name] = scope[KERNELS[name.split(",")[0]]]
    return found


def milliseconds(kernels: dict[str, Any]) -> dict[str, float]:
    """The median of the rounds, by CUDA's events, after one round that is not counted."""
    A, B = np.random.default_rng(1).uniform(-1, 1, (2, SIZE, SIZE)).astype(np.float32)
    on_gpu = cuda.to_device(A), cuda.to_device(B), cuda.device_array((SIZE, SIZE), np.float32)
    samples: dict[str, list[float]] = {name: [] for name in kernels}
    for _ in range(ROUNDS + 1):
        for name, kernel in kernels.items():
            begin, end = cuda.event(), cuda.event()
            begin.record()
            kernel[(SIZE // EDGE, SIZE // EDGE), (EDGE, EDGE)](*on_gpu)
            end.record()
            end.synchronize()
            samples[name].append(cuda.event_elapsed_time(begin, end))
            row = on_gpu[2][:1].copy_to_host()[0]
            assert np.allclose(row, A[0].astype(np.float64) @ B, atol=1e-2), name
    return {name: statistics.median(each[1:]) for name, each in samples.items()}


def measure() -> dict[str, Any]:
    """What the file says of it."""
    gpu = cuda.get_current_device()
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
    return {
        "device": name,
        "loops": {
            "timed": datetime.now(UTC).date().isoformat(),
            "timed_with": f"Numba, blocks of {EDGE} x {EDGE}, median of {ROUNDS}, CUDA events",
            "size": SIZE,
            "ms": milliseconds(forms()),
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
