"""The softmax of every row in one pass: the row stays in the registers of a block."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.tasks import softmax_naive as before

THREADS, WARP = 256, 32


def _of_own_warp(sums: Any) -> Any:
    """The sum of each thread's warp."""
    return sums.reshape(len(sums), -1, WARP).sum(axis=2).repeat(WARP, axis=1)


def _of_lanes_0(tops: Any) -> Any:
    """The larger of a thread's own maximum and those of the lanes 0."""
    import numpy as np  # the registry is read without it, too

    return np.maximum(tops, tops[:, ::WARP].max(axis=1, keepdims=True))


_HEAD = '''\
import math


@cuda.jit(device=True)
def warp_max(number):
    """Give every lane the largest of the numbers of all 32 lanes, with your five exchanges."""
    apart = 16
    while apart > 0:
        number = max(number, cuda.shfl_xor_sync(0xFFFFFFFF, number, apart))
        apart //= 2
    return number


@cuda.jit(device=True)
def warp_sum(number):
    """Give every lane the sum of the numbers of all 32 lanes."""
    apart = 16
    while apart > 0:
        number += cuda.shfl_xor_sync(0xFFFFFFFF, number, apart)
        apart //= 2
    return number


@cuda.jit
def softmax_once(X, Y):
    """Y = the softmax of each row of X, for any number of columns. A block of 256 threads computes
    row `cuda.blockIdx.y`. It loads the first 4096 numbers of its row only once."""
    tops, sums = cuda.shared.array(8, float32), cuda.shared.array(8, float32)
    row, t, columns = cuda.blockIdx.y, cuda.threadIdx.x, X.shape[1]
    top, total = float32(-math.inf), float32(0)
'''
_MAXIMUM = """\
    top = warp_max(top)
    if t % 32 == 0:
        tops[t // 32] = top
    cuda.syncthreads()
    for warp in range(8):
        top = max(top, tops[warp])
"""
_SUM = """\
    total = warp_sum(total)
    if t % 32 == 0:
        sums[t // 32] = total
    cuda.syncthreads()
    total = float32(0)
    for warp in range(8):
        total += sums[warp]
"""

TASK = Task(
    id="softmax_once",
    title="A softmax in one pass",
    lesson="10c",
    position=4,
    parameters=("X", "Y"),
    output="Y",
    grid=(1, "M"),
    block=(THREADS, 1),
    shapes=("M,N", "M,N"),
    reference=before.softmax_of_rows,
    offsets=before.TASK.offsets,
    rises=before.TASK.rises,
    falls=before.TASK.falls,
    before=before.TASK.before,
    visits={"X": 1},
    asks=("bounds", "coalesced", "race-free", "conflict-free", "float32"),
    rung="row_kept",
    ladder="row softmax",
    wrong_ideas=(
        *before.IDEAS_OF_ROWS,
        WrongIdea(
            lambda X: before.over_sums_of(X, THREADS, _of_own_warp),
            "each warp divides by the sum of its own columns instead of the sum of the row",
            "Where are the sums of the other seven warps?",
        ),
        WrongIdea(
            lambda X: before.over_sums_of(
                X, THREADS, lambda sums: _of_own_warp(sums) + sums.sum(axis=1, keepdims=True)
            ),
            "each thread counts the sum of its own warp twice",
            "What does `total` hold when the loop over the eight sums begins?",
            place=("divisor",),
        ),
        WrongIdea(
            lambda X: before.over_sums_of(
                X, THREADS, lambda sums: sums[:, ::WARP].sum(axis=1, keepdims=True)
            ),
            "each warp passes on the sum of its lane 0 alone instead of the sum of all 32 lanes",
            "Before lane 0 stores its sum, which function adds up the sums of all 32 lanes of the "
            "warp?",
            place=("divisor",),
        ),
        WrongIdea(
            lambda X: before.with_own_tops(X, THREADS, _of_lanes_0),
            "each warp passes on the maximum of its lane 0 alone instead of the maximum of all 32 "
            "lanes",
            "Before lane 0 stores its maximum, which function finds the maximum of all 32 lanes of "
            "the warp?",
            place=("largest",),
        ),
        WrongIdea(
            lambda X: 0 * X,
            "all numbers of Y are 0, because the sum is infinite",
            "Past the end of a row, `kept[k]` should be -inf. What should exp(-inf - top) add to "
            "the sum?",
            place=("sum",),
        ),
    ),
    formula=before.TASK.formula,
    hints=(
        "This kernel is already right. It uses shuffles within a warp, and eight numbers in "
        "shared memory between warps. Where does the kernel load X a second time, and where a "
        "third time?",
        "Of the first 4096 columns, thread t handles 16: columns t, t + 256, t + 512 and so on. A "
        "local array of 16 numbers is kept in registers if the loops over it have a fixed length.",
        "Set `kept[k]` to -inf where there is no column, so that its exp is 0. `if 256 "
        "* k < columns` skips the steps in which no thread has a column. After each of "
        "your loops, write one more loop that handles the columns from 4096 on as "
        "before.",
    ),
    given=_HEAD
    + """\
    for j in range(t, columns, 256):
        top = max(top, X[row, j])
"""
    + _MAXIMUM
    + """\
    for j in range(t, columns, 256):
        total += math.exp(X[row, j] - top)
"""
    + _SUM
    + """\
    for j in range(t, columns, 256):
        Y[row, j] = math.exp(X[row, j] - top) / total
""",
    answer=_HEAD
    + """\
    kept = cuda.local.array(16, float32)
    for k in range(16):
        j = t + 256 * k
        kept[k] = X[row, j] if j < columns else float32(-math.inf)
        top = max(top, kept[k])
    for j in range(t + 4096, columns, 256):
        top = max(top, X[row, j])
"""
    + _MAXIMUM
    + """\
    for k in range(16):
        if 256 * k < columns:
            kept[k] = math.exp(kept[k] - top)
            total += kept[k]
    for j in range(t + 4096, columns, 256):
        total += math.exp(X[row, j] - top)
"""
    + _SUM
    + """\
    share = float32(1) / total
    for k in range(16):
        j = t + 256 * k
        if j < columns:
            Y[row, j] = kept[k] * share
    for j in range(t + 4096, columns, 256):
        Y[row, j] = math.exp(X[row, j] - top) * share
""",
    another=_HEAD
    + """\
    kept = cuda.shared.array(4096, float32)
    for j in range(t, columns, 256):
        number = X[row, j]
        if j < 4096:
            kept[j] = number
        top = max(top, number)
"""
    + _MAXIMUM
    + """\
    for j in range(t, columns, 256):
        total += math.exp((kept[j] if j < 4096 else X[row, j]) - top)
"""
    + _SUM
    + """\
    for j in range(t, columns, 256):
        Y[row, j] = math.exp((kept[j] if j < 4096 else X[row, j]) - top) / total
""",
    compared="This version keeps the row in 16 KB of shared memory instead of registers. It "
    "computes each exponential twice, and its loops are only as long as the row.",
    par=18,
    meaning="Your kernel loads each number of X once and stores each number of Y once, and no "
    "kernel can move fewer bytes. All that remains is to keep DRAM busy.",
)
