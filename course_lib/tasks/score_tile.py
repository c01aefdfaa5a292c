"""A warp's scores: its queries times a tile of keys, whose rows are the columns of B."""

from typing import Any

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.tasks.warp_product import as_if_in_order, blocks_turned, quarters_exchanged

GIVEN = '''\
import numpy as np
from course_lib.intrinsics import ldmatrix_x4, ldmatrix_x4_trans, mma_m16n8k16_bf16


@cuda.jit(device=True)
def add_product(sums, j, a, b0, b1):
    """Multiply two fragments, and add the 16 x 8 product to sums[j]."""
    four = sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3]
    four = mma_m16n8k16_bf16(four, a, (b0, b1))
    sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3] = four


@cuda.jit(device=True)
def score_tile(S, q, sK):
    """S = the scores of a warp's 16 queries and the 32 keys in sK. S[j] has 16 x 8 scores. A key
    is a row of sK. q[k] holds this lane's four words of the queries for the 16 columns from 16 * k
    on."""
    lane = np.uint32(cuda.threadIdx.x) % 32
    ...
'''
WRITTEN = """\
    for j in range(4):
        for c in range(4):
            S[j, c] = float32(0)
    for k in range(4):
        a = q[k, 0], q[k, 1], q[k, 2], q[k, 3]
        for j in range(0, 4, 2):
            key, piece = 8 * j + lane // 16 * 8 + lane % 8, 2 * k + lane // 8 % 2
            b0, b1, b2, b3 = ldmatrix_x4(sK, piece_at(key, piece))
            add_product(S, j, a, b0, b1)
            add_product(S, j + 1, a, b2, b3)
"""
AS_FOR_A = """\
    for j in range(4):
        for c in range(4):
            S[j, c] = float32(0)
    for k in range(4):
        a = q[k, 0], q[k, 1], q[k, 2], q[k, 3]
        for j in range(0, 4, 2):
            b0, b1, b2, b3 = ldmatrix_x4(sK, piece_at(8 * j + lane % 16, 2 * k + lane // 16))
            add_product(S, j, a, b0, b2)
            add_product(S, j + 1, a, b1, b3)
"""
FETCH, PRODUCT = ("call", "ldmatrix_x4", "with", "sK"), ("call", "add_product")
TILE = 32


def in_sixteens(m: Any, order: Any) -> Any:
    """A matrix with 64 rows in which these 16 rows stand in the place of each 16, counted there."""
    return m[[16 * part + row for part in range(4) for row in order]]


def _keys(Q: Any, K: Any, of_tile: Any) -> Any:
    """The scores of these keys of each tile."""
    return Q @ K[[first + key for first in (0, TILE) for key in of_tile]].T


def _with_tile_before(Q: Any, K: Any) -> Any:
    """The scores of the second tile with those of the first in them."""
    scores = (Q @ K.T).copy()
    scores[:, TILE:] += scores[:, :TILE]
    return scores


def _one_piece_for_two(scores: Any) -> Any:
    """The sums of two pieces in the first of them, and nothing in the second."""
    pairs = scores.reshape(16, 4, 2, 8)
    return (pairs.sum(axis=2, keepdims=True) * [[1], [0]]).reshape(16, 64)


EIGHT_TWICE = [*range(8)] * 2
IDEAS = (
    (
        _with_tile_before,
        "the scores of the second tile include those of the first",
        "When the second tile begins, S still contains the scores of the first tile. With which "
        "value should each new score start?",
        ("sum",),
    ),
    (
        lambda Q, K: Q @ blocks_turned(K).T,
        "each 8 x 8 matrix of K is transposed",
        "A column of B is a key, and a key is a row of `sK`. So are the two numbers of a word side "
        "by side in `sK`, or does `ldmatrix` have to transpose them?",
        ("call", "ldmatrix_x4_trans", "ldmatrix_x4", "with", "sK"),
    ),
    (
        lambda Q, K: Q @ quarters_exchanged(K).T,
        "in each 16 x 16 part of K, the upper right and the lower left quarters are swapped",
        "Which two of the four words from `ldmatrix_x4` belong to the same eight keys?",
        FETCH,
    ),
    (
        lambda Q, K: _keys(Q, K, [*range(16)] * 2),
        "your kernel uses the first 16 keys of each tile twice and never the next 16",
        "S[2] holds the scores of eight keys, and so does S[3]. Which eight keys of the tile "
        "should each of them use?",
        FETCH,
    ),
    (
        lambda Q, K: _keys(Q, K, [*range(16), *range(8, 24)]),
        "the second 16 keys of each tile begin at key 8",
        "One `ldmatrix_x4` loads rows of 16 keys. At which key should the next "
        "`ldmatrix_x4` begin?",
        FETCH,
    ),
    (
        lambda Q, K: _keys(Q, K, [*range(16), *range(2, 18)]),
        "the second 16 keys of each tile begin at key 2",
        "j counts groups of 8 keys. At which key does group j begin?",
        FETCH,
    ),
    (
        lambda Q, K: _keys(Q, K, EIGHT_TWICE * 2),
        "your kernel uses the first 8 keys of each tile for all 32 keys",
        "Which eight keys do the scores in S[j] belong to?",
        FETCH,
    ),
    (
        lambda Q, K: Q @ in_sixteens(K, EIGHT_TWICE).T,
        "in every 16 keys, your kernel uses the first 8 twice and never the last 8",
        "Which lanes have to give `ldmatrix_x4` the addresses of the last 8 of the 16 keys?",
        FETCH,
    ),
    (
        lambda Q, K: Q @ in_sixteens(K, [*range(8, 16), *range(8)]).T,
        "in every 16 keys, the first 8 and the last 8 are swapped",
        "Which two of the four words from `ldmatrix_x4` belong to the first 8 keys?",
        FETCH,
    ),
    (
        lambda Q, K: Q @ in_sixteens(K.T, EIGHT_TWICE),
        "in every 16 columns of K, your kernel uses the first 8 twice and never the last 8",
        "Which lanes have to give `ldmatrix_x4` the addresses of the last 8 of the 16 columns?",
        FETCH,
    ),
    (
        lambda Q, K: Q @ in_sixteens(K.T, [*range(8, 16), *range(8)]),
        "in every 16 columns of K, the first 8 and the last 8 are swapped",
        "Which of the two words of B belongs to the first 8 columns of K?",
        FETCH,
    ),
    (
        lambda Q, K: Q[:, [*range(16)] * 4] @ K.T,
        "your kernel multiplies the first 16 columns of the queries by all columns of the keys",
        "Iteration k needs 16 columns of the queries. Which four words of `q` hold a lane's part "
        "of these columns?",
        ("load", "q"),
    ),
    (
        lambda Q, K: Q @ K[:, [*range(16)] * 4].T,
        "your kernel multiplies all columns of the queries by the first 16 columns of the keys",
        "Iteration k needs 16 columns of the keys. In which two 16-byte pieces of a row are these "
        "columns?",
        FETCH,
    ),
    (
        lambda Q, K: Q @ K[:, [8 * k + c for k in range(4) for c in range(16)]].T,
        "from one iteration to the next, your kernel moves on by 8 columns of the keys instead of "
        "16",
        "16 columns are two 16-byte pieces of a row. At which piece should iteration k = 1 begin?",
        FETCH,
    ),
    (
        lambda Q, K: Q[:, :16] @ K[:, :16].T,
        "your kernel multiplies only the first 16 columns of queries and keys",
        "A query has 64 columns. How many steps of 16 columns does a query take?",
        PRODUCT,
    ),
    (
        lambda Q, K: Q[:, 48:] @ K[:, 48:].T,
        "the scores include only the last 16 columns of queries and keys",
        "How many times per tile does your kernel set S to zero, and how many times should it?",
        ("sum",),
    ),
    (
        lambda Q, K: Q @ K.T * [1 - key // 8 % 2 for key in range(64)],
        "in each group of 16 keys, the scores of the last 8 are 0",
        "Which keys do the last two of the four words, b2 and b3, belong to?",
        PRODUCT,
    ),
    (
        lambda Q, K: _one_piece_for_two(Q @ K.T),
        "in each group of 16 keys, your kernel adds the scores of the last 8 keys to the scores of "
        "the first 8 keys",
        "Do the last two of the four words, b2 and b3, belong to S[j] or to S[j + 1]?",
        PRODUCT,
    ),
    (
        lambda Q, K: Q @ as_if_in_order(K).T,
        "your kernel reads the keys as if the 16-byte pieces of each row were stored in order",
        "`piece_at` returns the index at which a 16-byte piece of a row begins. Does your kernel "
        "use this index?",
        FETCH,
    ),
    (
        lambda Q, K: Q @ K.T / 8,
        "your kernel already divides the scores by 8",
        "In this task, the scores are Q Kᵀ and nothing else: they are scaled only later.",
        ("sum",),
    ),
)

TASK = Task(
    id="score_tile",
    title="Scores of a tile",
    lesson="11b",
    position=2,
    parameters=("Q", "K", "S"),
    output="S",
    grid=(1,),
    block=(32,),
    shapes=("16,64", "64,64", "16,64"),
    dtypes={"Q": "bfloat16", "K": "bfloat16"},
    reference=lambda Q, K: Q @ K.T,
    asks=("float32", "conflict-free"),
    uses=("piece_at",),
    loads=2 * (16 + 2 * 32) / (16 * 64),
    wrong_ideas=tuple(WrongIdea(*idea) for idea in IDEAS),
    formula="S = Q @ K.T, in tiles of 32 keys",
    hints=(
        "In the figure of lesson 10, a word of B holds rows 2t and 2t + 1 of column g. Column g is "
        "a key. Are the two numbers of the word side by side in memory?",
        "So use `ldmatrix_x4`, not `ldmatrix_x4_trans`. One call loads 16 columns of 16 keys and "
        "gives each lane four words: two for S[j] and two for S[j + 1]. The addresses that the "
        "lanes give decide what each word holds.",
        "Set S to zero. Then, for each k and each group of 16 keys, load four words and call "
        "`add_product` twice, with `(q[k, 0], q[k, 1], q[k, 2], q[k, 3])` as A.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("    ...\n", WRITTEN),
    another=GIVEN.replace("    ...\n", AS_FOR_A),
    compared="In this version, lanes 8 to 15 point at the next eight keys, as they do with rows of "
    "A. So the first and the third word belong to S[j].",
    caller='''\
from course_lib.intrinsics import cp_async16, cp_async_commit, cp_async_wait
from course_lib.intrinsics import ldmatrix_x4


@cuda.jit
def caller(Q, K, S):
    """Keeps the fragments of Q, and calls `score_tile` for each of two tiles of K."""
    sQ = cuda.shared.array((16, 64), np.uint16, alignment=128)
    sK = cuda.shared.array((64, 64), np.uint16, alignment=128)
    q = cuda.local.array((4, 4), np.uint32)
    scores = cuda.local.array((4, 4), float32)
    lane = np.uint32(cuda.threadIdx.x)
    for i in range(lane, 128, 32):
        cp_async16(sQ, piece_at(i // 8, i % 8), Q, i * 8)
    for i in range(lane, 512, 32):
        cp_async16(sK, piece_at(i // 8, i % 8), K, i * 8)
    cp_async_commit()
    cp_async_wait(0)
    cuda.syncthreads()
    for k in range(4):
        words = ldmatrix_x4(sQ, piece_at(lane % 16, 2 * k + lane // 16))
        q[k, 0], q[k, 1], q[k, 2], q[k, 3] = words
    for tile in range(2):
        score_tile(scores, q, sK[32 * tile : 32 * tile + 32])
        for j in range(4):
            for c in range(4):
                S[c // 2 * 8 + lane // 4, 32 * tile + 8 * j + lane % 4 * 2 + c % 2] = scores[j, c]
''',
    par=10,
    meaning="The rows of K are the columns of B, so transposing K costs nothing. The fragments of "
    "the queries are loaded only once for all tiles.",
)
