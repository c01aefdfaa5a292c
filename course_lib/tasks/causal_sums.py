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
    reads_hint="Query 0 sees only one key. How many tiles of keys does your loop visit for query "
    "0, and how many of these tiles hold only hidden keys?",
    wrong_ideas=(
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: j < i),
            "a query does not see its own key",
            "Query i should see keys 0 to i, including key i itself.",
            place=("chosen",),
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: j >= i),
            "each query sees its own key and the later ones",
            "A key that comes after the query has a larger number than the query. Which keys does "
            "your condition hide?",
            place=("chosen",),
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: j <= i, lambda i: 31 - i % 32),
            "in the last tile, a hidden key gets the score 0, and a score of 0 still gives a key "
            "some weight",
            "The weight of a key is the exponential of its score minus the maximum. Which score "
            "makes this weight 0?",
            place=("chosen",),
        ),
        WrongIdea(
            lambda S: _log_sums(S, lambda i, j: j <= i, lambda i: (len(S) + 31) // 32 * 32 - i - 1),
            "each hidden key gets the score 0, and a score of 0 still gives a key some weight",
            "The weight of a key is the exponential of its score minus the maximum. Which score "
            "makes this weight 0?",
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
        "Which keys are hidden from query 5, and which score gives a hidden key the weight 0?",
        "Some tiles hold only keys that the query must not see. Your kernel need not load those "
        "tiles.",
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
    compared="This version guards the load instead of the score, so it never loads the score of a "
    "hidden key.",
    par=2,
    meaning="One of your two changes hides the later keys in the last tile that a query needs, and "
    "the other change skips all tiles after that tile.",
)
