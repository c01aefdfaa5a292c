"""The softmax of every row, a warp a row: its lanes hand numbers round by shuffles alone."""

from operator import add
from typing import Any

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.tasks import softmax_naive as before

LANES = 32


def _shuffled_down(numbers: Any, join: Any) -> Any:
    """What the lanes have if numbers only flow down; past the last lane each gets its own."""
    import numpy as np  # the registry is read without it, too

    lane = np.arange(LANES)
    for apart in (16, 8, 4, 2, 1):
        numbers = join(numbers, numbers[:, np.where(lane + apart < LANES, lane + apart, lane)])
    return numbers


def _larger(one: Any, other: Any) -> Any:
    import numpy as np

    return np.maximum(one, other)


_HEAD = '''\
import math


@cuda.jit
def softmax_warps(X, Y):
    """Y = the softmax of each row of X, which may have any size. One warp computes each row, and a
    block has four warps."""
    lane, row = cuda.grid(2)
    top, total = float32(-math.inf), float32(0)
    if row < X.shape[0]:
        for j in range(lane, X.shape[1], 32):
            top = max(top, X[row, j])
'''

TASK = Task(
    id="softmax_warps",
    title="A softmax with one warp per row",
    lesson="10c",
    position=3,
    parameters=("X", "Y"),
    output="Y",
    grid=(1, "M"),
    block=(LANES, 4),
    shapes=("M,N", "M,N"),
    reference=before.softmax_of_rows,
    offsets=before.TASK.offsets,
    rises=before.TASK.rises,
    falls=before.TASK.falls,
    before=before.TASK.before,
    asks=("bounds", "coalesced", "float32"),
    without_shared=True,
    visits={"X": 3},
    rung="warp_a_row",
    ladder="row softmax",
    wrong_ideas=(
        *before.IDEAS_OF_ROWS,
        WrongIdea(
            lambda X: before.over_sums_of(X, LANES, lambda sums: sums),
            "each lane divides by the sum of its own columns instead of the sum of the row",
            "The other 31 lanes have the other terms of the row. How does a lane get the sums of "
            "these lanes?",
        ),
        WrongIdea(
            lambda X: before.over_sums_of(X, LANES, lambda sums: _shuffled_down(sums, add)),
            "only lane 0 has the sum of the row, because the others have added some lanes twice",
            "All 32 lanes need the sum of the row, so each exchange has to work in "
            "both directions.",
            place=("divisor",),
        ),
        WrongIdea(
            lambda X: before.with_own_tops(X, LANES, lambda tops: _shuffled_down(tops, _larger)),
            "only lane 0 knows the largest number of the row",
            "All 32 lanes need the largest number of the row, so each exchange has to work in both "
            "directions.",
            place=("largest",),
        ),
    ),
    formula=before.TASK.formula,
    hints=(
        "`cuda.shfl_xor_sync(0xFFFFFFFF, number, 16)` returns the value that `number` has in lane "
        "`lane ^ 16`. What do the two lanes know after this exchange?",
        "Each exchange doubles the number of lanes whose numbers a lane has combined: 2, 4, 8, 16, "
        "32.",
        "You need five exchanges, at the distances 16, 8, 4, 2 and 1. After each exchange, a lane "
        "keeps the larger of the two numbers for the maximum, or their sum for the sum.",
    ),
    given=_HEAD
    + """\
        ...
""",
    answer=_HEAD
    + """\
        apart = 16
        while apart > 0:
            top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, apart))
            apart //= 2
        for j in range(lane, X.shape[1], 32):
            total += math.exp(X[row, j] - top)
        apart = 16
        while apart > 0:
            total += cuda.shfl_xor_sync(0xFFFFFFFF, total, apart)
            apart //= 2
        for j in range(lane, X.shape[1], 32):
            Y[row, j] = math.exp(X[row, j] - top) / total
""",
    another=_HEAD
    + """\
        for apart in (1, 2, 4, 8, 16):
            top = max(top, cuda.shfl_down_sync(0xFFFFFFFF, top, apart))
        top = cuda.shfl_sync(0xFFFFFFFF, top, 0)
        for j in range(lane, X.shape[1], 32):
            total += math.exp(X[row, j] - top)
        for apart in (1, 2, 4, 8, 16):
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, apart)
        total = cuda.shfl_sync(0xFFFFFFFF, total, 0)
        for j in range(lane, X.shape[1], 32):
            Y[row, j] = math.exp(X[row, j] - top) / total
""",
    compared="This version combines the numbers in lane 0, which then broadcasts the result. That "
    "takes one more exchange for the maximum, and one more for the sum.",
    par=12,
    meaning="Five exchanges replace the eight barriers of a tree, and you need no shared memory.",
)
