"""An online softmax of fragments: a lane has parts of two rows, and shares each with three more."""

import math
from typing import Any

from course_lib.registry.exercise import Task, WrongIdea

TILE = 32
GIVEN = '''\
import math


@cuda.jit(device=True)
def online_rows(S, mixed, top, total):
    """Turn a tile's scores into weights, S = exp(S - top). Before that, raise `top` to the largest
    score of the row so far, and multiply `total` and `mixed` by exp(old top - new top). Then add
    this lane's own weights to `total`. S has four fragments of 16 x 8, and `mixed` eight."""
    # h = 0 is row g, with the numbers [j, 0] and [j, 1], top[0] and total[0].
    # h = 1 is row g + 8, with [j, 2] and [j, 3], top[1] and total[1].
    for h in range(2):
        new = top[h]
        ...
'''
WRITTEN = """\
        for j in range(4):
            new = max(new, S[j, 2 * h], S[j, 2 * h + 1])
        new = max(new, cuda.shfl_xor_sync(0xFFFFFFFF, new, 1))
        new = max(new, cuda.shfl_xor_sync(0xFFFFFFFF, new, 2))
        factor = math.exp(top[h] - new)
        top[h] = new
        total[h] *= factor
        for j in range(8):
            mixed[j, 2 * h] *= factor
            mixed[j, 2 * h + 1] *= factor
        for j in range(4):
            for c in range(2 * h, 2 * h + 2):
                S[j, c] = math.exp(S[j, c] - new)
                total[h] += S[j, c]
"""
ONLY_IF_IT_GROWS = """\
        for j in range(4):
            new = max(new, S[j, 2 * h], S[j, 2 * h + 1])
        new = max(new, cuda.shfl_xor_sync(0xFFFFFFFF, new, 1))
        new = max(new, cuda.shfl_xor_sync(0xFFFFFFFF, new, 2))
        if new > top[h]:
            factor = math.exp(top[h] - new)
            top[h] = new
            total[h] *= factor
            for j in range(8):
                mixed[j, 2 * h] *= factor
                mixed[j, 2 * h + 1] *= factor
        for j in range(4):
            for c in range(2 * h, 2 * h + 2):
                S[j, c] = math.exp(S[j, c] - new)
                total[h] += S[j, c]
"""
EXCHANGES = (
    ((), "its own columns"),
    ((1,), "its own columns and those of lane ^ 1"),
    ((2,), "its own columns and those of lane ^ 2"),
)
ALL_FOUR = (1, 2)


def softened(
    S: Any,
    masks: Any = ALL_FOUR,
    total: int = 1,
    mixed: int = 1,
    forgets: bool = False,
    keeps: bool = False,
    late: bool = False,
    shifted: bool = True,
    begins: float = -math.inf,
    rows: Any = None,
    by_column: bool = False,
    early: bool = False,
    pieces: int = 8,
    adds: Any = None,
) -> Any:
    """What comes out, row by row and lane by lane, tile after tile.

    Args:
        S: the scores, as many columns as keys.
        masks: with which lanes of the four a maximum is exchanged.
        total, mixed: how they are rescaled: 1 as they should be, 0 not at all, -1 by the inverse.
        forgets: the maximum starts anew with each tile.
        keeps: the maximum is never stored, so the one before the first tile stays.
        late: what the tile adds to `total` is rescaled as well.
        shifted: whether the maximum is subtracted in the weights.
        begins: what the maximum is at least in each tile.
        rows: which row's factor each row gets.
        by_column: in `mixed`, even columns get the factor of row g, odd ones that of row g + 8.
        early: `total` is summed over the four lanes after each tile, and once more in the end.
        pieces: so many pieces of `mixed` are rescaled.
        adds: the part of its weights that a lane adds to `total`, by column.
    """
    import numpy as np  # the registry is read without it, too

    count, keys = S.shape
    padded = np.full((count, -(-keys // TILE) * TILE), -np.inf)
    padded[:, :keys] = S
    lane = np.arange(TILE) % 8 // 2
    column_lane = np.arange(64) % 8 // 2
    top, sums = np.full((count, 4), -np.inf), np.zeros((count, 4))
    out = np.zeros((count, 64))
    with np.errstate(all="ignore"):
        for first in range(0, padded.shape[1], TILE):
            part = padded[:, first : first + TILE]
            new = np.stack([part[:, lane == t].max(axis=1) for t in range(4)], axis=-1)
            new = np.maximum(new, begins if forgets else np.maximum(top, begins))
            for mask in masks:
                new = np.maximum(new, new[:, np.arange(4) ^ mask])
            weights = np.exp(part - new[:, lane] if shifted else part)
            factor = np.exp(top - new)
            factor = factor if rows is None else factor[rows]
            counted = weights if adds is None else weights * adds
            own = np.stack([counted[:, lane == t].sum(axis=1) for t in range(4)], axis=-1)
            by = {1: factor, 0: 1.0, -1: np.where(factor > 0, 1 / factor, 0.0)}
            sums = (sums + own) * by[total] if late else sums * by[total] + own
            sums = sums.sum(axis=1, keepdims=True).repeat(4, axis=1) if early else sums
            shrunk = out * (by[mixed][:, column_lane] if mixed else 1.0)
            if by_column:
                shrunk = (
                    out * factor[np.arange(16)[:, None] % 8 + 8 * (np.arange(64) % 2), column_lane]
                )
            out = np.where(np.arange(64) < 8 * pieces, shrunk, out)
            out = out + weights[:, np.arange(64) % TILE]
            top = top if keeps else new
    return np.hstack([out, sums.sum(axis=1, keepdims=True), top[:, :1]])


FACTOR, MIXED = ("exponential", "first"), ("named", "mixed")
SHRINK = (
    "By which factor do you have to multiply everything that was added up with the old maximum?"
)
IDEAS: tuple[tuple[Any, str, str, tuple[str, ...]], ...] = (
    *(
        (
            lambda S, masks=masks: softened(S, masks),
            f"each lane takes the maximum of only {who}, so a row has several maxima",
            "Which other lanes hold scores of the same row, and how can a lane get their numbers?",
            ("largest",),
        )
        for masks, who in EXCHANGES
    ),
    (
        lambda S: softened(S, mixed=0),
        "when the maximum grows, your kernel does not rescale the values that it has already mixed",
        SHRINK,
        FACTOR,
    ),
    (
        lambda S: softened(S, total=0),
        "when the maximum grows, your kernel does not rescale the sum of the weights",
        SHRINK,
        ("sum",),
    ),
    (
        lambda S: softened(S, total=0, mixed=0),
        "when the maximum grows, your kernel rescales nothing",
        SHRINK,
        FACTOR,
    ),
    (
        lambda S: softened(S, late=True),
        "your kernel rescales the new weights of a tile together with the old sum",
        "The new weights are already computed with the new maximum. Rescale the old sum before you "
        "add them.",
        ("sum",),
    ),
    (
        lambda S: softened(S, forgets=True),
        "each tile has a maximum of its own that ignores the earlier tiles",
        "When a tile begins, a lane already knows the maximum of the earlier tiles. Where does "
        "your kernel use this maximum?",
        ("largest",),
    ),
    (
        lambda S: softened(S, keeps=True),
        "the maximum is lost after each tile, so the next tile multiplies the results of all "
        "earlier tiles by 0",
        "Which line of your function should store the new maximum in `top`?",
        FACTOR,
    ),
    (
        lambda S: softened(S, begins=0.0),
        "the maximum of a row is 0 if all of its scores are below 0",
        "The maximum of a row has to start with a value below every possible score. Which float is "
        "below all others?",
        ("largest",),
    ),
    (
        lambda S: softened(S, shifted=False),
        "your kernel computes the weights without subtracting a maximum",
        "Which number has to be subtracted from the score in the exponent?",
        ("exponential",),
    ),
    (
        lambda S: softened(S, pieces=4),
        "your kernel rescales only mixed[0] to mixed[3]",
        "S has four fragments, S[0] to S[3]. How many fragments does `mixed` have?",
        MIXED,
    ),
    (
        lambda S: softened(S, rows=[*range(8, 16), *range(8)]),
        "the factors of rows g and g + 8 are swapped",
        "Which of the numbers mixed[j, 0] to mixed[j, 3] are in row g, and which are in row g + 8?",
        MIXED,
    ),
    (
        lambda S: softened(S, by_column=True),
        "your kernel rescales the even columns of both rows by the factor of row g, and the odd "
        "columns by the factor of row g + 8",
        "Which of the numbers mixed[j, 0] to mixed[j, 3] are in row g, and which are in row g + 8?",
        MIXED,
    ),
    (
        lambda S: softened(S, early=True),
        "your kernel adds up the sums of the four lanes after each tile, so earlier tiles count "
        "several times",
        "After the first exchange, each of the four lanes has the whole sum of the row. If you "
        "exchange these sums again after the next tile, how many times do the earlier weights "
        "count?",
        ("exchange", "sum", "read"),
    ),
    *(
        (
            lambda S, parity=parity: softened(S, adds=[1 - (c + parity) % 2 for c in range(TILE)]),
            "each lane adds only every other one of its weights to its sum",
            "In each fragment S[j], how many numbers of a row does a lane hold?",
            ("sum",),
        )
        for parity in range(2)
    ),
    (
        lambda S: softened(S, adds=[int(c >= TILE - 8) for c in range(TILE)]),
        "the sums contain only the weights in S[3], the last fragment of a tile",
        "A tile has four fragments, S[0] to S[3]. Which of them does your kernel add up?",
        ("sum",),
    ),
    (
        lambda S: softened(S, total=-1, mixed=-1),
        "your kernel multiplies by the inverse of the right factor",
        "A larger maximum makes all old weights smaller. Must the exponent be positive "
        "or negative?",
        ("exponential",),
    ),
)

TASK = Task(
    id="online_rows",
    title="Two rows for each lane, tile by tile",
    lesson="11b",
    position=4,
    parameters=("S", "out"),
    output="out",
    grid=(1,),
    block=(32,),
    shapes=("16,70", "16,66"),
    reference=softened,
    offsets={"S": -110},  # exp(S) is 0 in float32
    rises={"S": 400},  # by 25 from the first key of a row to its last
    falls={"S": 50_000},
    asks=("float32",),
    wrong_ideas=tuple(WrongIdea(*idea) for idea in IDEAS),
    formula="out[i] = row i of mixed, then its total and its top",
    hints=(
        "Start with row g only. In each fragment S[j], a lane has two scores of row g. Find the "
        "maximum of these scores, and then the maximum over the four lanes, with the exchanges of "
        "`quad_sum`, because all four lanes need it.",
        "Now do what `mix_tiles` of lesson 11 does: multiply everything that was added up with the "
        "old maximum by exp(top[h] - new). Here, this means total[h] and the row's two numbers in "
        "each fragment of `mixed`.",
        "Then replace each score by its weight, and add the weight to total[h]. Do not exchange "
        "the sums yet: one `quad_sum` after the last tile is enough.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("        ...\n", WRITTEN),
    another=GIVEN.replace("        ...\n", ONLY_IF_IT_GROWS),
    compared="This version rescales only if the maximum has grown. After a few tiles, the maximum "
    "rarely grows, so most of the 32 multiplications are saved.",
    caller='''\
@cuda.jit
def caller(S, out):
    """Hands over one tile after another, as `mma` would leave it. A key that does not
    exist has the score -inf."""
    scores = cuda.local.array((4, 4), float32)
    mixed = cuda.local.array((8, 4), float32)
    top = cuda.local.array(2, float32)
    total = cuda.local.array(2, float32)
    g, t = cuda.threadIdx.x // 4, cuda.threadIdx.x % 4
    for h in range(2):
        top[h], total[h] = float32(-math.inf), float32(0)
    for j in range(8):
        for c in range(4):
            mixed[j, c] = 0
    for first in range(0, S.shape[1], 32):
        for j in range(4):
            for c in range(4):
                key = first + 8 * j + 2 * t + c % 2
                exists = key < S.shape[1]
                scores[j, c] = S[c // 2 * 8 + g, key] if exists else float32(-math.inf)
        online_rows(scores, mixed, top, total)
        for j in range(8):
            for c in range(4):
                mixed[j, c] += scores[j % 4, c]
    for h in range(2):
        total[h] += cuda.shfl_xor_sync(0xFFFFFFFF, total[h], 1)
        total[h] += cuda.shfl_xor_sync(0xFFFFFFFF, total[h], 2)
        for j in range(8):
            for c in range(2):
                out[8 * h + g, 8 * j + 2 * t + c] = mixed[j, 2 * h + c]
        if t == 0:
            out[8 * h + g, 64], out[8 * h + g, 65] = total[h], top[h]
''',
    par=14,
    meaning="For each row and tile, the lanes exchange numbers only twice, and nothing goes "
    "through memory. A key that does not exist has the score −∞, so its weight is "
    "exp(−∞) = 0.",
)
