"""Log-sum-exp of rows in which a query may look at no later key: mask and last tile."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea

GIVEN = '''\
import math


@cuda.jit
def causal_sums(S, L):
    """L[i] = log of the sum of exp(S[i, j]) over the keys j up to i. As given, the kernel sums over
    all keys."""
    handed = cuda.shared.array((4, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    query, keys = 4 * cuda.blockIdx.x + y, S.shape[1]
    if query >= S.shape[0]:
        return
    top, total = float32(-math.inf), float32(0)
    for first in range(0, keys, 32):
        key = first + x
        handed[y, x] = S[query, key] if key < keys else float32(-math.inf)
        cuda.syncwarp()
        new = top
        for j in range(32):
            new = max(new, handed[y, j])
        total *= math.exp(top - new)
        for j in range(32):
            total += math.exp(handed[y, j] - new)
        top = new
        cuda.syncwarp()
    if x == 0:
        L[query] = top + math.log(total)
'''
MASK = ("if key < keys else", "if key <= query else")
LAST = ("range(0, keys, 32)", "range(0, query + 1, 32)")


def _log_sums(S: Any, sees: Any, zeros: Any = None) -> Any:
    """The result if query i sees key j where `sees(i, j)`; of other keys so many have the score 0
    as `zeros(i)` says, and the rest no weight."""
    import numpy as np  # the registry is read without it, too

    i, j = np.indices(S.shape)
    seen = np.where(sees(i, j), S, -np.inf)
    sums = np.logaddexp.reduce(seen, axis=1)
    return sums if zeros is None else np.logaddexp(sums, np.log(zeros(np.arange(len(S)))))


TASK = Task(
    id="causal_sums",
    title="No look ahead",
    lesson="11b",
    position=5,
    parameters=("S", "L"),
    output="L",
    block=(32, 4),
    tile=(4,),
    shapes=("40,40", "40"),
    other_sizes=({"40": 71},),
    reference=lambda S: _log_sums(S, lambda i, j: j <= i),
    falls={"S": 50_000},  # so that no finite number does for -inf
    asks=("bounds", "race-free"),
    reads=64 * 32 * (32 * 1 + 8 * 2),  # by 32 lanes, for one tile of 32 queries and two of 8
    reads_hint="Query 0 sees only one key. How many tiles does this loop visit for query 0, and "
    "how many of them hold only hidden keys?",
    wrong_ideas=(
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: j < i),
            "a query does not see its own key",
            "Query i should see the keys up to i. Is key i one of them?",
            place=("chosen",),
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: j >= i),
            "each query sees its own key and the later ones",
            "If a key comes after the query, which is larger, the number of the key or the number "
            "of the query?",
            place=("chosen",),
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: j <= i, lambda i: 31 - i % 32),
            "in the last tile, a hidden key gets the score 0, and a score of 0 still gives a key "
            "some weight",
            "Which score gives a key the weight 0?",
            place=("chosen",),
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: j <= i, lambda i: (len(S) + 31) // 32 * 32 - i - 1),
            "each hidden key gets the score 0, and a score of 0 still gives a key some weight",
            "Which score gives a key the weight 0?",
            place=("chosen",),
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: (j <= i) & ((i % 32 > 0) | (j < i))),
            "the first query of each tile does not see its own key",
            "How many keys does query 32 see, and how many tiles hold them?",
            place=("loop",),
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: j < i // 32 * 32 + 32),
            "each query sees all keys of its last tile, even those that come after the query",
            "Which keys of the last tile come after the query?",
            place=("chosen",),
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: i == i),
            "every query sees all keys",
            "Which score must a key get if it comes after the query?",
            place=("chosen",),
        ),
    ),
    formula="L[i] = log of the sum of exp(S[i, j]) for j up to i",
    hints=(
        "Which keys are hidden from query 5, and which score gives them no weight?",
        "Which tiles hold only hidden keys? Your kernel need not load those tiles.",
    ),
    given=GIVEN,
    answer=GIVEN.replace(*MASK).replace(*LAST),
    another=GIVEN.replace(
        "    for first in range(0, keys, 32):",
        "    last = query + 1\n    for first in range(0, last, 32):",
    ).replace(
        "        handed[y, x] = S[query, key] if key < keys else float32(-math.inf)\n",
        "        handed[y, x] = float32(-math.inf)\n        if key < last:\n"
        "            handed[y, x] = S[query, key]\n",
    ),
    compared="This version guards the load instead of the score, so it never fetches a hidden "
    "score.",
    par=2,
    meaning="One of your two changes hides the later keys of the last tile, and the other one "
    "skips all tiles after it.",
)
