"""The waits of warps with loops of unequal length: each waits for itself alone."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea

_HEAD = '''\
import math


@cuda.jit
def own_tiles(S, L):
    """L[y] = log of the sum of exp(S[y, j]) over tiles 0 to y, where each tile has 32 scores. Warp
    y computes row y, and leaves the loop after y + 1 iterations."""
    handed = cuda.shared.array((4, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    top, total = float32(-math.inf), float32(0)
    for first in range(0, 32 * (y + 1), 32):
        handed[y, x] = S[y, first + x]
'''
_MAXIMUM = """\
        new = top
        for j in range(32):
            new = max(new, handed[y, j])
        total *= math.exp(top - new)
        for j in range(32):
            total += math.exp(handed[y, j] - new)
        top = new
"""
_TAIL = """\
    if x == 0:
        L[y] = top + math.log(total)
"""
_WAIT = "        cuda.syncwarp()\n"


def _log_sums(S: Any, tiles: Any) -> Any:
    """The result, if row y has so many tiles."""
    import numpy as np  # the registry is read without it, too

    return np.array([np.logaddexp.reduce(row[: 32 * tiles(y)]) for y, row in enumerate(S)])


TASK = Task(
    id="own_tiles",
    title="Each warp at its own pace",
    lesson="11",
    position=4,
    parameters=("S", "L"),
    output="L",
    block=(32, 4),
    tile=(4,),
    shapes=("4,128", "4"),
    reference=lambda S: _log_sums(S, lambda y: y + 1),
    falls={"S": 50_000},  # so that no finite number does for -inf
    asks=("race-free", "coalesced"),
    wrong_ideas=(
        WrongIdea(
            lambda S: _log_sums(S, lambda y: 4),
            "every row includes all four tiles",
            "How many tiles belong to row y, and which tiles does your loop visit?",
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda y: 1),
            "every row includes only its first tile",
            "How many tiles belong to row y?",
        ),
    ),
    formula="L[y] = log of the sum of exp(S[y, j]) over j < 32 * (y + 1)",
    hints=(
        "Which lanes write row y of `handed`, and which lanes read it? Does any other warp use "
        "this row?",
        "`cuda.syncthreads()` waits for the whole block, but warp 0 has only one iteration. "
        "`cuda.syncwarp()` waits only for the lanes of the same warp.",
        "You need two waits, as in lesson 05. After the first wait, all lanes have written their "
        "scores, so the scores can be read. After the second wait, all lanes have read the scores, "
        "so the scores can be overwritten.",
    ),
    given=_HEAD + _MAXIMUM + _TAIL,
    answer=_HEAD + _WAIT + _MAXIMUM + _WAIT + _TAIL,
    another=(_HEAD + _WAIT + _MAXIMUM + _TAIL)
    .replace("(4, 32)", "(2, 4, 32)")
    .replace("handed[y", "handed[first // 32 % 2, y"),
    compared="This version uses two buffers, as in lesson 09b, so one wait per tile is enough.",
    par=2,
    meaning="Waiting for its own 32 lanes costs a warp next to nothing, and the other warps "
    "continue. For each row, you store one number, top + log(total). It is called the "
    "**log-sum-exp** of the row.",
)
