"""Barriers of the grid, locks, flags and counters: what is right is clean, what is wrong is named.

The numbers of the right ones are those that a GPU gives; Numba's simulator runs one block at a
time, and none of these with more than one.
"""

import numpy as np
import pytest
from emulator_helpers import HEADER, as_program, launch, line_of

from course_lib.emulator import KernelRejected, Profile

N = 64  # threads of a block


def numbers(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + np.prod(shape), dtype=np.int32).reshape(shape)


def program_of(text: str) -> str:
    return HEADER + text.replace("def k(", "@cuda.jit\ndef kernel(")


def emulated(text: str, blocks: int, threads: int, *arguments: np.ndarray, **options) -> Profile:
    return launch(program_of(text), blocks, threads, *arguments, **options)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


GRID_SYNC = """
def k(M):
    c = cuda.grid(1)
    g = cuda.cg.this_grid()
    for r in range(1, M.shape[0]):
        M[r, c] = M[r - 1, M.shape[1] - c - 1] + 1
        g.sync()
"""
LOCK_PER_CELL = """
def k(lock, best, v):
    i = cuda.grid(1)
    p = i % 4
    done = False
    while not done:
        if cuda.atomic.cas(lock, p, 0, 1) == 0:
            cuda.threadfence()
            best[p] = best[p] + v[i]
            cuda.threadfence()
            cuda.atomic.exch(lock, p, 0)
            done = True
"""
LOCK_OF_BLOCKS = """
def k(lock, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)
"""
LOCK_OF_WARPS = """
def k(total):
    lock = cuda.shared.array(1, int32)
    inside = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        lock[0] = 0
        inside[0] = 0
    cuda.syncthreads()
    if t % 32 == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.threadfence_block()
        inside[0] += 1
        cuda.threadfence_block()
        cuda.atomic.exch(lock, 0, 0)
    cuda.syncthreads()
    if t == 0:
        total[cuda.blockIdx.x] = inside[0]
"""
OWN_GRID_BARRIER = """
def k(count, a, out):
    i = cuda.grid(1)
    a[i] = i
    cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(count, 0, 1)
        while cuda.atomic.add(count, 0, 0) < cuda.gridDim.x:
            pass
    cuda.syncthreads()
    out[i] = a[a.shape[0] - 1 - i]
"""
LAST_BLOCK = """
def k(count, sums, out, x):
    last = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        s = 0
        for i in range(cuda.blockDim.x):
            s += x[cuda.blockIdx.x * cuda.blockDim.x + i]
        sums[cuda.blockIdx.x] = s
        cuda.threadfence()
        last[0] = cuda.atomic.add(count, 0, 1)
    cuda.syncthreads()
    if last[0] == cuda.gridDim.x - 1 and t == 0:
        total = 0
        for b in range(cuda.gridDim.x):
            total += sums[b]
        out[0] = total
"""
CHAIN = """
def k(flag, a):
    b = cuda.blockIdx.x
    if cuda.threadIdx.x == 0:
        if b > 0:
            while cuda.atomic.add(flag, b - 1, 0) == 0:
                pass
            cuda.threadfence()
            a[b] += a[b - 1]
        cuda.threadfence()
        cuda.atomic.exch(flag, b, 1)
"""
EVERY_THREAD_FENCES = """
def k(count, a, out):
    i = cuda.grid(1)
    a[i] = i
    cuda.threadfence()
    last = cuda.shared.array(1, int32)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        last[0] = cuda.atomic.inc(count, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        j = cuda.threadIdx.x
        while j < a.shape[0]:
            out[j] = a[a.shape[0] - 1 - j]
            j += cuda.blockDim.x
"""
ROWS = np.repeat(np.arange(4), 4 * N).reshape(4, -1)
RIGHT = {
    "grid.sync": (GRID_SYNC, 4, lambda: [zeros(4, 4 * N)], ROWS),
    "this_grid().sync()": (GRID_SYNC.replace("    g = cuda.cg.this_grid()\n", "").replace(
        "g.sync", "cuda.cg.this_grid().sync"
        ), 4, lambda: [zeros(4, 4 * N)], ROWS),
    "a lock for each cell": (
        LOCK_PER_CELL, 2, lambda: [zeros(4), zeros(4), np.ones(2 * N, np.int32)], [32] * 4),
    "a lock for blocks": (LOCK_OF_BLOCKS, 16, lambda: [zeros(1), zeros(1)], [16]),
    "a lock for warps": (LOCK_OF_WARPS, 3, lambda: [zeros(3)], [2, 2, 2]),
    "a barrier of one's own": (OWN_GRID_BARRIER, 4, lambda: [zeros(1), zeros(4 * N), zeros(4 * N)],
        np.arange(4 * N)[::-1]),
    "the last block": (LAST_BLOCK, 8, lambda: [zeros(1), zeros(8), zeros(1), numbers(8 * N)],
        [numbers(8 * N).sum()]),
    "a chain of flags": (CHAIN, 8, lambda: [zeros(8), numbers(8)], numbers(8).cumsum()),
    "every thread fences": (EVERY_THREAD_FENCES, 4,
        lambda: [np.zeros(1, np.uint32), zeros(4 * N), zeros(4 * N)], np.arange(4 * N)[::-1]),
}  # fmt: skip


def changed(arguments: list[np.ndarray], wanted: np.ndarray) -> bool:
    return any(np.array_equal(array.reshape(np.shape(wanted)), wanted) for array in arguments
               if array.size == np.size(wanted))  # fmt: skip


@pytest.mark.parametrize("schedule", ["lockstep", "warps", "shuffled"])
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_is_clean(name: str, schedule: str) -> None:
    text, blocks, make, wanted = RIGHT[name]
    arguments = make()
    profile = emulated(text, blocks, N, *arguments, schedule=schedule)
    assert [str(finding) for finding in profile.findings] == []
    assert changed(arguments, np.asarray(wanted))


WRONG = {
    "no grid.sync": ("grid.sync", "        g.sync()\n", "", "race-", "M["),
    "grid.sync in a branch": ("grid.sync", "        g.sync()",
        "        if cuda.blockIdx.x > 0:\n            g.sync()", "barrier-divergence", ""),
    "grid.sync after a return": ("grid.sync", "    g =", "    if c < 5:\n        return\n    g =",
        "barrier-divergence", ""),
    "a lock without fences": (
        "a lock for blocks", "        cuda.threadfence()\n", "", "race-", "total[0]"),
    "two locks for one cell": (
        "a lock for each cell", "p = i % 4", "p = i % 4\n    q = i % 8", None, "best["),
    "given back too early": ("a lock for blocks",
        "        total[0] += 1\n        cuda.threadfence()\n        cuda.atomic.exch(lock, 0, 0)",
        "        cuda.threadfence()\n        cuda.atomic.exch(lock, 0, 0)\n        total[0] += 1",
        "race-", "total[0]"),
    "a fence of the block only": (
        "a lock for blocks", "cuda.threadfence()", "cuda.threadfence_block()", "race-", "total[0]"),
    "the barrier waits for one block too few": (
        "a barrier of one's own", "< cuda.gridDim.x:", "< cuda.gridDim.x - 1:", "race-", "a["),
    "the barrier lacks its fence": (
        "a barrier of one's own", "    cuda.threadfence()\n", "", "race-", "a["),
    "the barrier lacks the block's first": (
        "a barrier of one's own", "    cuda.threadfence()\n    cuda.syncthreads()\n",
        "    cuda.threadfence()\n", "race-", "a["),
    "the barrier lacks the block's last": ("a barrier of one's own",
        "            pass\n    cuda.syncthreads()\n", "            pass\n", "race-", "a["),
    "a flag before the value": ("a chain of flags",
        "            a[b] += a[b - 1]\n        cuda.threadfence()\n"
        "        cuda.atomic.exch(flag, b, 1)",
        "        cuda.threadfence()\n        cuda.atomic.exch(flag, b, 1)\n"
        "        if b > 0:\n            a[b] += a[b - 1]", "race-", "a["),
    "nobody waits for the flag": ("a chain of flags",
        "            while cuda.atomic.add(flag, b - 1, 0) == 0:\n                pass\n", "",
        "race-", "a["),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str) -> None:
    of, old, new, code, cell = WRONG[name]
    text, blocks, make, _ = RIGHT[of]
    assert old in text
    text = text.replace(old, new)
    if code is None:  # the lock is another one than the cell's
        text, code = text.replace("lock, p", "lock, q"), "race-"
    arguments = make()
    if name == "two locks for one cell":
        arguments[0] = zeros(8)
    orders = [("lockstep", 0), *(("shuffled", seed) for seed in (1, 2, 3))]
    seen = []
    for schedule, seed in orders:
        given = map(np.copy, arguments)
        seen += emulated(text, blocks, N, *given, schedule=schedule, seed=seed).findings
    found = [f for f in seen if f.code.startswith(code) and f.cell.startswith(cell)]
    assert found and found[0].severity == "error", [str(finding) for finding in seen]


@pytest.mark.parametrize(("of", "old", "new"), [
    ("a lock for blocks", "cuda.atomic.exch(lock, 0, 0)", "lock[0] = 0"),
    ("a lock for each cell", "cuda.atomic.exch(lock, p, 0)", "lock[p] = 0"),
    ("a chain of flags", "cuda.atomic.exch(flag, b, 1)", "flag[b] = 1"),
])  # fmt: skip
def test_a_signal_by_a_plain_store_is_the_cause_of_what_it_leaves_unordered(of, old, new):
    text, blocks, make, _ = RIGHT[of]
    assert old in text
    findings = emulated(text.replace(old, new), blocks, N, *make()).findings
    (error,) = (each for each in findings if each.severity == "error")
    assert "with a plain store" in error.message
    assert error.line == line_of(program_of(text.replace(old, new)), new)


def test_a_missing_fence_is_called_so() -> None:
    text, blocks, make, _ = RIGHT["the last block"]
    profile = emulated(text.replace("        cuda.threadfence()\n", ""), blocks, N, *make())
    assert "no cuda.threadfence() before it" in profile.findings[0].message


def test_a_grid_that_no_gpu_holds_is_refused() -> None:
    with pytest.raises(KernelRejected, match=r"all 5000 blocks on the GPU at once.* than 4736"):
        emulated(GRID_SYNC, 5000, N, zeros(4, 5000 * N))
    with pytest.raises(KernelRejected, match="all 300 blocks"):
        emulated(GRID_SYNC, 300, 1024, zeros(4, 300 * 1024))


MINIMUM = """
def k(x, m):
    lo = m[0]
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        lo = min(x[i], lo)
    cuda.atomic.min(m, 0, lo)
"""


@pytest.mark.parametrize(("text", "severity"), [
    (MINIMUM, "warning"),
    (MINIMUM.replace("lo = min(x[i], lo)", "if x[i] < lo:\n            lo = x[i]"), "warning"),
    (MINIMUM.replace("lo = min(x[i], lo)", "lo += x[i]"), "error"),
    (MINIMUM.replace("cuda.atomic.min", "cuda.atomic.add"), "error"),
])  # fmt: skip
def test_a_start_value_beside_atomics_does_no_harm(text: str, severity: str) -> None:
    profile = emulated(text, 2, N, numbers(300), np.array([9], np.int32))
    assert {finding.severity for finding in profile.findings} == {severity}


EQUAL = """
def k(x, out, place):
    j = place
    i = cuda.grid(1)
    out[i] = i
    cuda.syncthreads()
    out[0] = x[j]
"""


@pytest.mark.parametrize(("text", "severity"), [
    (EQUAL, "warning"),
    (EQUAL.replace("x[j]", "x[i]"), "error"),
    (EQUAL.replace("j = place", "j = place + cuda.threadIdx.x"), "error"),
    (EQUAL.replace("= x[j]", "= out[j]"), "error"),
])  # fmt: skip
def test_equal_values_from_one_place_do_no_harm(text: str, severity: str) -> None:
    profile = emulated(text, 1, N, numbers(N), zeros(N), 3)
    worst = {finding.severity for finding in profile.findings}
    assert ("error" in worst) == (severity == "error") and worst, profile.findings


def test_a_lock_in_a_launch_too_large_for_a_machine_a_warp_is_refused() -> None:
    with pytest.raises(KernelRejected, match="at the same time"):
        emulated(LOCK_OF_BLOCKS, 10_000, N, zeros(1), zeros(1))


def test_races_between_blocks_that_meet_far_apart_in_an_array() -> None:
    """Cells before and behind those that a line has touched so far, and cells in between."""
    body = """
    order = cuda.blockIdx.x * 5 % 8
    out[order * 100 + cuda.threadIdx.x] = 1
    if cuda.blockIdx.x == 7 and cuda.threadIdx.x == 0:
        out[where] = 2
    """
    for where in (0, 31, 50, 100, 399, 400, 731, 790):
        profile = launch(as_program(body, "out, where"), 8, 32, np.zeros(800, np.int32), where)
        is_hit = where % 100 < 32 and where // 100 != 7 * 5 % 8
        assert [f.cell for f in profile.findings] == [f"out[{where}]"] * is_hit
