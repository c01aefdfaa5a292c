"""What is worked out for many accesses at once, or ruled out cheaply, changes no count."""

import gc
import platform
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emulator_helpers import run

from course_lib.emulator import Budget, Profile, emulate, load_program
from course_lib.emulator.observers import meter, races
from course_lib.emulator.observers.races import RaceDetector

DIAGONALS = """
    s = cuda.shared.array((33, 33), {kind})
    tx = cuda.threadIdx.x
    b = cuda.blockIdx.x
    s[0, tx + 1] = tx
    s[tx + 1, 0] = tx
    if tx == 0:
        s[0, 0] = 0
    cuda.syncthreads()
    for d in range(63):
        row = tx + 1
        column = d - tx + 1
        if 1 <= column <= 32:
            s[row, column] = s[row - 1, column - 1] + out[b, row - 1, column - 1]
        {barrier}
    out[b, tx, 31] = s[tx + 1, 32]
"""
TREE = """
    s = cuda.shared.array(64, {kind})
    tx = cuda.threadIdx.x
    s[tx] = out[cuda.blockIdx.x, 0, tx % 32]
    cuda.syncthreads()
    half = 16
    while half > 0:
        if tx < half:
            s[tx] += s[tx + half]
        {barrier}
        half //= 2
    out[cuda.blockIdx.x, 0, tx % 32] = s[0]
"""
ATOMICS = """
    s = cuda.shared.array(8, int32)
    tx = cuda.threadIdx.x
    if tx < 8:
        s[tx] = 0
    {barrier}
    cuda.atomic.add(s, tx % 5, 1)
    cuda.syncthreads()
    cuda.atomic.add(out, (0, 0, tx % 32), s[tx % 8])
"""
BETWEEN_BLOCKS = """
    i = cuda.grid(1)
    for k in range(3):
        out[k, 0, i % 32] = i
        {barrier}
        out[cuda.blockIdx.x, 1, k] += out[(cuda.blockIdx.x + 1) % cuda.gridDim.x, 0, k]
"""
LAUNCHES = [
    (body.format(barrier=barrier, kind=kind), blocks)
    for body, kind in (
        (DIAGONALS, "float32"), (DIAGONALS, "float64"), (TREE, "float64"), (ATOMICS, ""),
        (BETWEEN_BLOCKS, ""),
    )
    for barrier in ("cuda.syncthreads()", "cuda.syncwarp()", "pass")
    for blocks in (1, 12)
]  # fmt: skip


def report(profile: Profile) -> dict[str, Any]:
    """All that was counted and found."""
    return {
        name: repr(getattr(profile, name))
        for name in ("lines", "arrays", "findings", "stale_reads")
    }


def reports() -> list[dict[str, Any]]:
    return [
        report(run(body, blocks, 32, np.ones((12, 32, 32), np.float32), schedule=schedule))
        for body, blocks in LAUNCHES
        for schedule in ("lockstep", "shuffled")
    ]


@pytest.fixture(scope="module")
def usual() -> list[dict[str, Any]]:
    found = reports()
    assert sum("race-" in each["findings"] for each in found) > 10
    assert sum("race-" not in each["findings"] for each in found) > 10
    assert all("requests" in each["lines"] for each in found)
    return found


def one_at_a_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meter, "MAX_QUEUED_LANES", 1)
    patch.setattr(races, "MAX_WAITING_CELLS", 0)


def patterns_of_few_lanes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meter, "MIN_PATTERN_LANES", 0)


def no_pattern(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(meter, "MAX_PATTERN_BYTES", 0)


def every_group_is_judged(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RaceDetector, "_written_cells_have_one_thread", lambda self, group: False)


CHANGES: list[Callable[[pytest.MonkeyPatch], None]] = [
    one_at_a_time, patterns_of_few_lanes, no_pattern, every_group_is_judged,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_what_saves_time_changes_nothing(usual, monkeypatch, change):
    change(monkeypatch)
    assert reports() == usual


# How often a page had to be fetched in the fourth to sixth of the same launches.
FAULTS = """
import resource
import numpy as np
from course_lib.emulator import emulate, load_program

TEXT = '''
from numba import cuda
@cuda.jit
def polynomial(out, x):
    i = cuda.grid(1)
    y = x[i] * x[i] + 1.0
    for k in range(4):
        y = y * x[i] + 1.0
    out[i] = y
'''
x = np.ones(1 << 17)
launch = emulate(load_program(TEXT).functions["polynomial"])[512, 256]
for _ in range(6):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    launch(np.empty_like(x), x)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="how glibc keeps freed memory")
def test_memory_that_a_launch_has_freed_is_at_hand_for_the_next_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True
    )
    assert sum(map(int, done.stdout.split()[3:])) < 2000


TEXT = """
from numba import cuda, float32
@cuda.jit
def grid_wide(out, x, lock):
    i = cuda.grid(1)
    out[i] = x[i]
    cuda.cg.this_grid().sync()
    cuda.atomic.add(out, 0, x[i])
@cuda.jit
def locked(out, x, lock):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass
    out[0] += x[0]
    cuda.atomic.exch(lock, 0, 0)
@cuda.jit
def racing(out, x, lock):
    tile = cuda.shared.array(32, float32)
    tile[cuda.threadIdx.x] = x[cuda.threadIdx.x]
    out[0] = tile[31 - cuda.threadIdx.x]
"""


@pytest.mark.parametrize("name", ["grid_wide", "locked", "racing"])
def test_a_launch_leaves_nothing_to_the_garbage_collector(name: str) -> None:
    """What it held is free at once: otherwise its arrays would stay until Python looks for them."""
    few = Budget(steps=2_000)  # the lanes of a warp wait for a lock without end
    launch = emulate(load_program(TEXT).functions[name], schedule="shuffled", budget=few)[2, 32]
    arrays = np.zeros(64, np.float32), np.ones(64, np.float32), np.zeros(1, np.int32)
    launch(*arrays)
    gc.collect()
    gc.freeze()  # so that the next collection looks through nothing else
    gc.disable()
    try:
        launch(*arrays)
        assert gc.collect() == 0
    finally:
        gc.enable()
