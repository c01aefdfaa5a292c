"""Run two copying kernels side by side that differ in one line: a first question, unanswered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import cuda

from course_lib.emulator import emulate
from course_lib.host import runtime
from course_lib.wording.errors import PlainError

SIZE, TIMED_SIZE = 256, 4096  # rows and columns: of the counted copy, of the timed one
BLOCK = (32, 8)
SECTOR_BYTES = 32


@cuda.jit
def copy_1(A, B):  # type: ignore[no-untyped-def]
    column, row = cuda.grid(2)
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, column]


@cuda.jit
def copy_2(A, B):  # type: ignore[no-untyped-def]
    row, column = cuda.grid(2)
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, column]


def two_copies() -> None:
    """Print what both kernels ask for and what is moved for that; on a GPU, how long they take."""
    heading = f"time at {TIMED_SIZE} × {TIMED_SIZE}" if runtime.on_gpu() else ""
    rows = [("", "asked for", "moved", heading)]
    for name, kernel in (("copy 1", copy_1), ("copy 2", copy_2)):
        asked, moved = map(_kilo, bytes_of(kernel))
        rows.append((name, asked, moved, _time(kernel)))
    for name, asked, moved, time in rows:
        print(f"{name:8}{asked:>12}{moved:>12}{time:>22}".rstrip())


def bytes_of(kernel: Any) -> tuple[int, int]:
    """Bytes that the threads ask for, and those of the sectors that are moved, in both directions.

    Raises:
        AssertionError: if the copy is not right.
    """
    A = np.arange(SIZE * SIZE, dtype=np.float32).reshape(SIZE, SIZE)
    B = np.zeros_like(A)
    profile = emulate(kernel)[_grid(SIZE), BLOCK](A, B)
    assert (A == B).all()
    asked = profile.global_load_bytes + profile.global_store_bytes
    return asked, SECTOR_BYTES * (profile.global_load_sectors + profile.global_store_sectors)


def _grid(size: int) -> tuple[int, int]:
    return size // BLOCK[0], size // BLOCK[1]


def _kilo(count: int) -> str:
    return f"{count / 1000:,.0f} kB"


def _time(kernel: Any) -> str:
    """Of the larger copy; "" without a GPU."""
    if not runtime.on_gpu():
        return ""
    from course_lib.timing import time_kernel

    A = np.zeros((TIMED_SIZE, TIMED_SIZE), np.float32)
    try:
        timing = time_kernel(kernel, _grid(TIMED_SIZE), BLOCK, A, A.copy(), max_seconds=1.0)
    except PlainError:
        return "not measured"
    return f"{timing.median_ms:.3g} ms"
