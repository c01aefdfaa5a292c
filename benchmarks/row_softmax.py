"""A softmax of every row: the answers of lesson 10c beside PyTorch's, checked, then timed.

    python3 benchmarks/row_softmax.py            three sizes, some 20 seconds on an H200
    python3 benchmarks/row_softmax.py --store    keep it: course_lib/measurements/row_softmax

Needs a GPU, numba-cuda and PyTorch. Each answer is held against float64 first, on the sizes that
are timed and on odd ones, with numbers up to 100 and down to -100; who is wrong gets no time. Then
all take turns, each round in an order of its own, in samples of about 5 ms; times are those of the
GPU (`course_lib.bench.gpu.EventClock`), float32. A copy of the matrix takes part as well: it moves
the bytes that have to move, and computes nothing.
"""

from __future__ import annotations

import importlib.util
import math
import random
import statistics
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from course_lib.bench import gpu
from course_lib.bench.nvml import Nvml
from course_lib.bench.session import short_name
from course_lib.curriculum import TASKS, Task
from course_lib.measurements import files, row_softmax
from course_lib.measurements.row_softmax import COPY, PYTORCH, least_bytes, size_name

# Square; rows of 999, which no block divides; rows longer than what a block keeps in registers.
SIZES = ((4096, 4096), (10007, 999), (513, 20011))
ODD_SIZES = ((1, 1), (3, 4097), (130, 31), (33, 257))
RUNGS = tuple(task for task in TASKS.values() if task.lesson == "10c" and task.rung)
# Of a number, as a share of the largest in its row. Of 20,011 float32 numbers added up one after
# the other some 1e-5 is lost; on the odd sizes one that is left out shows from 2e-4 on.
MOST_ERROR = 1e-4
SAMPLE_MS, ROUNDS = 5.0, 15

Launch = Callable[[], Any]


def kernel_of(task: Task) -> Any:
    """The kernel of a task's answer."""
    from numba import cuda, float32

    names = {"cuda": cuda, "float32": float32, "math": math}
    exec(compile(task.answer, f"<answer to {task.id}>", "exec"), names)
    return names[task.id]


def kernels() -> dict[str, Any]:
    """Those of all rungs, by the ids of their tasks."""
    return {task.id: kernel_of(task) for task in RUNGS}


def matrix(rows: int, columns: int) -> Any:
    """Numbers between -102 and 102, each row in a range of its own."""
    import torch

    ranges = torch.linspace(-100, 100, rows, device="cuda")[:, None]
    return torch.rand((rows, columns), device="cuda") * 4 - 2 + ranges


def launches(found: dict[str, Any], X: Any) -> Iterator[tuple[str, Launch, Any]]:
    """What launches each contestant, and where its result is; None where it is returned."""
    import torch
    from numba import cuda

    for task in RUNGS:
        Y = torch.full_like(X, math.nan)
        launch = task.launch(tuple(X.shape))
        ready = found[task.id][launch.grid, launch.block]
        arrays = cuda.as_cuda_array(X), cuda.as_cuda_array(Y)
        yield task.id, lambda ready=ready, arrays=arrays: ready(*arrays), Y
    yield PYTORCH, lambda: torch.softmax(X, 1), None
    Z = torch.empty_like(X)
    yield COPY, lambda: Z.copy_(X), Z


def error(Y: Any, X: Any) -> float:
    """How far a softmax is off at most, as a share of the largest number of its row."""
    truth = X.double().softmax(1)
    off = (Y.double() - truth).abs() / truth.amax(1, keepdim=True)
    return float(off.nan_to_num(nan=math.inf).max())


def check(found: dict[str, Any]) -> None:
    """See that each answer is right on odd sizes.

    Raises:
        SystemExit: naming the first that is not.
    """
    for rows, columns in ODD_SIZES:
        X = matrix(rows, columns)
        for name, launch, Y in launches(found, X):
            if name != COPY:
                _hold(name, launch, Y, X)


def _hold(name: str, launch: Launch, Y: Any, X: Any) -> float:
    returned = launch()
    off = error(returned if Y is None else Y, X)
    if not off <= MOST_ERROR:
        raise SystemExit(f"{name} is wrong on {size_name(*X.shape)}: off by {off:.2g}.")
    return off


def measured(clock: Any, found: dict[str, Any], rows: int, columns: int) -> dict[str, Any]:
    """Samples and error of all contestants on one size, in rounds."""
    X = matrix(rows, columns)
    taking_part = list(launches(found, X))
    kept: dict[str, Any] = {}
    for name, launch, Y in taking_part:
        off = None if name == COPY else _hold(name, launch, Y, X)
        kept[name] = {"samples_ms": [], "error": off}
    pilots = {name: clock.sample(launch, 2, True).ms for name, launch, _ in taking_part}
    for _ in range(ROUNDS):
        for name, launch, _ in random.sample(taking_part, len(taking_part)):
            times = max(1, math.ceil(SAMPLE_MS / pilots[name]))
            kept[name]["samples_ms"].append(clock.sample(launch, times, True).ms)
    return kept


def shown(size: tuple[int, int], kept: dict[str, Any]) -> str:
    """A size's times, and the speed at which the bytes that have to move were moved."""
    medians = {name: statistics.median(row["samples_ms"]) for name, row in kept.items()}
    lines = [size_name(*size)]
    for name, ms in medians.items():
        speed, share = least_bytes(*size) / ms / 1e6, medians[PYTORCH] / ms
        lines.append(f"  {name:16}{1000 * ms:10.1f} us {speed:8.0f} GB/s {share:6.2f} of PyTorch")
    return "\n".join(lines)


def main() -> None:
    if importlib.util.find_spec("torch") is None:
        raise SystemExit("There is no PyTorch here to compare with.")
    name, _, bus_id = gpu.device()
    nvml = Nvml(bus_id)
    clock, found = gpu.EventClock(nvml), kernels()
    check(found)
    rows = {}
    for size in SIZES:
        rows[size_name(*size)] = measured(clock, found, *size)
        print(shown(size, rows[size_name(*size)]), flush=True)
    if "--store" in sys.argv:
        about = {
            "device": name,
            "date": datetime.now(UTC).date().isoformat(),
            "versions": {**gpu.versions(), "driver": nvml.driver_version()},
            "rows": rows,
        }
        print(f"Stored in {files.store(row_softmax.FOLDER, short_name(name), about)}.")


if __name__ == "__main__":
    main()
