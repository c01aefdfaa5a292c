"""Weights as they lie in sums are the left operand of the second product."""

from itertools import permutations
from typing import Any

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.tasks.one_mma import in_order, one_of_each_pair, pairs_exchanged
from course_lib.tasks.score_tile import in_sixteens
from course_lib.tasks.warp_product import as_if_in_order, blocks_turned, quarters_exchanged

GIVEN = '''\
import numpy as np
from course_lib.intrinsics import ldmatrix_x4, ldmatrix_x4_trans, mma_m16n8k16_bf16, pack_bf16


@cuda.jit(device=True)
def add_product(sums, j, a, b0, b1):
    """Add one product of fragments to piece j of the sums, which is 16 x 8."""
    four = sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3]
    four = mma_m16n8k16_bf16(four, a, (b0, b1))
    sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3] = four


@cuda.jit(device=True)
def mix_values(mixed, P, sV):
    """mixed += P @ sV. P is 16 x 32, in four pieces of 16 x 8, and sV is 32 x 64. `mixed` has eight
    pieces of 16 x 8."""
    lane = np.uint32(cuda.threadIdx.x) % 32
    for k in range(2):  # each step takes 16 keys
        a = ...
        for j in range(0, 8, 2):
            ...
'''
WORDS = """\
        a = (
            pack_bf16(P[2 * k, 0], P[2 * k, 1]),
            pack_bf16(P[2 * k, 2], P[2 * k, 3]),
            pack_bf16(P[2 * k + 1, 0], P[2 * k + 1, 1]),
            pack_bf16(P[2 * k + 1, 2], P[2 * k + 1, 3]),
        )
"""
FETCHED = """\
            b0, b1, b2, b3 = ldmatrix_x4_trans(sV, piece_at(16 * k + lane % 16, j + lane // 16))
            add_product(mixed, j, a, b0, b1)
            add_product(mixed, j + 1, a, b2, b3)
"""
RIGHT_THEN_DOWN = """\
            value, piece = 16 * k + lane // 16 * 8 + lane % 8, j + lane // 8 % 2
            b0, b1, b2, b3 = ldmatrix_x4_trans(sV, piece_at(value, piece))
            add_product(mixed, j, a, b0, b2)
            add_product(mixed, j + 1, a, b1, b3)
"""
TILE = 32
WORD, FETCH, PRODUCT = ("call", "pack_bf16"), ("call", "ldmatrix_x4_trans"), ("call", "add_product")
EIGHT_TWICE = [*range(8)] * 2


def rounded(P: Any) -> Any:
    """To the nearest bfloat16, the upper half of a float32."""
    import numpy as np  # the registry is read without it, too

    bits = np.asarray(P, np.float32).view(np.uint32).astype(np.uint64)
    nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return (nearest.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def in_parts(P: Any, change: Any) -> Any:
    """P with each of its parts of 16 x 16 changed."""
    import numpy as np

    return np.hstack([change(P[:, first : first + 16]) for first in range(0, P.shape[1], 16)])


def _tiles(P: Any, V: Any, last_alone: bool) -> Any:
    """What is left if the sums begin again with each 16 keys, or with each tile."""
    first = len(V) - (16 if last_alone else TILE)
    return P[:, first:] @ V[first:]


NEIGHBOURS = (
    "A word holds two neighbouring numbers of one row. Which of a lane's four numbers are "
    "neighbours?"
)
NAMES = tuple(
    f"the {keys} keys of row g{below}" for keys in ("first", "last") for below in ("", " + 8")
)
ORDERS = tuple(
    (
        lambda P, V, order=order: in_parts(P, lambda part: in_order(part, order)) @ V,
        "word 0 of A holds {}, word 1 {}, word 2 {} and word 3 {}".format(
            *(NAMES[word] for word in order)
        ),
        "Which numbers does each word of A hold in the figure of lesson 10, and in which piece of "
        "P are they?",
        WORD,
    )
    for order in permutations(range(4))
    if order not in ((0, 1, 2, 3), (0, 2, 1, 3))
)
IDEAS: tuple[tuple[Any, str, str, tuple[str, ...]], ...] = (
    (
        lambda P, V: in_parts(P, lambda part: in_order(part, (0, 2, 1, 3))) @ V,
        "words 1 and 2 of A are swapped",
        "Word 1 of A is 8 rows below word 0, and word 2 is 8 columns to the right of word 0. In "
        "which piece of P is each of these words?",
        WORD,
    ),
    (
        lambda P, V: pairs_exchanged(P) @ V,
        "the two numbers of each word of A are swapped",
        "Which of the two numbers of a word belongs in its lower half?",
        WORD,
    ),
    *(
        (
            lambda P, V, n=n: (
                P[:, [p + c for p in range(0, 64, 8) for c in one_of_each_pair(n)]] @ V
            ),
            "each word of A holds one number twice",
            NEIGHBOURS,
            WORD,
        )
        for n in range(2)
    ),
    (
        lambda P, V: P.reshape(2, 8, -1, 2).transpose(3, 1, 2, 0).reshape(16, -1) @ V,
        "each word of A holds two numbers of one column, from row g and from row g + 8",
        NEIGHBOURS,
        WORD,
    ),
    (
        lambda P, V: in_parts(P, lambda part: part[:, EIGHT_TWICE]) @ V,
        "your kernel uses the first of every two pieces of P twice and never the second",
        "16 keys take up two pieces of P. Which words of A come from the second piece?",
        WORD,
    ),
    (
        lambda P, V: in_parts(P, lambda part: part[:, [*range(8, 16)] * 2]) @ V,
        "your kernel uses the second of every two pieces of P twice and never the first",
        "16 keys take up two pieces of P. Which words of A come from the first piece?",
        WORD,
    ),
    (
        lambda P, V: P[EIGHT_TWICE] @ V,
        "the lower eight rows of O repeat the upper eight",
        "Which of a lane's four numbers are in row g + 8?",
        WORD,
    ),
    (
        lambda P, V: P[[*range(8, 16)] * 2] @ V,
        "the upper eight rows of O repeat the lower eight",
        "Which of a lane's four numbers are in row g?",
        WORD,
    ),
    (
        lambda P, V: P[:, [t + c for t in (0, TILE) for c in [*range(16)] * 2]] @ V,
        "in each tile, your kernel uses the weights of the first 16 keys for the next 16, too",
        "Which two pieces of P does iteration k of your loop need?",
        WORD,
    ),
    (
        lambda P, V: P[:, [t + c for t in (0, TILE) for c in [*range(16), *range(8, 24)]]] @ V,
        "in iteration k = 1, your kernel takes the weights from piece 1 of P onwards",
        "How many pieces of P does one iteration use? With which piece does iteration k = 1 begin?",
        WORD,
    ),
    (
        lambda P, V: P @ V[[t + c for t in (0, TILE) for c in [*range(16)] * 2]],
        "in each tile, your kernel multiplies all weights by the first 16 rows of V",
        "Which rows of V does iteration k of your loop need?",
        FETCH,
    ),
    (
        lambda P, V: P @ V[[t + k + r for t in (0, TILE) for k in range(2) for r in range(16)]],
        "from one iteration to the next, your kernel moves down V by 1 row instead of 16",
        "How many rows of V does one iteration use? At which row does iteration k = 1 begin?",
        FETCH,
    ),
    (
        lambda P, V: P @ V[[t + c for t in (0, TILE) for c in [*range(16), *range(8, 24)]]],
        "in iteration k = 1, your kernel reads V from row 8 on",
        "How many rows of V does one iteration use? At which row does iteration k = 1 begin?",
        FETCH,
    ),
    (
        lambda P, V: P @ blocks_turned(V),
        "each 8 x 8 matrix of V is transposed",
        "Each word of B runs down a column of V. Which of the two `ldmatrix` instructions loads "
        "such words?",
        ("call", "ldmatrix_x4_trans", "ldmatrix_x4", "with", "sV"),
    ),
    (
        lambda P, V: P @ quarters_exchanged(V),
        "in each 16 x 16 part of V, the upper right and the lower left quarters are swapped",
        "Which two of the four words belong to the same eight columns?",
        FETCH,
    ),
    (
        lambda P, V: P @ in_sixteens(V, EIGHT_TWICE),
        "in every 16 rows of V, your kernel uses the first 8 twice and never the last 8",
        "Which lanes should point at the last 8 of 16 rows?",
        FETCH,
    ),
    (
        lambda P, V: P @ in_sixteens(V.T, EIGHT_TWICE).T,
        "in every 16 columns of V, your kernel uses the first 8 twice and never the last 8",
        "Which lanes should point at the second of two pieces of V?",
        FETCH,
    ),
    (
        lambda P, V: P @ in_sixteens(V.T, [*range(8, 16), *range(8)]).T,
        "in every 16 columns of O, the first 8 and the last 8 are swapped",
        "You get four words. Which two of them do you multiply for piece j of the sums, and which "
        "two for piece j + 1?",
        PRODUCT,
    ),
    (
        lambda P, V: P @ V[:, [8 * (j // 2 + j % 2) + c for j in range(8) for c in range(8)]],
        "from one `ldmatrix_x4_trans` to the next, your kernel moves on by 8 columns of V instead "
        "of 16",
        "How many pieces does one `ldmatrix_x4_trans` fetch? At which piece does the next one "
        "begin?",
        FETCH,
    ),
    (
        lambda P, V: P @ V[:, [*range(16)] * 4],
        "your kernel uses the first 16 columns of V for all 64 columns",
        "Which pieces of V do the words for the sums j and j + 1 come from?",
        FETCH,
    ),
    (
        lambda P, V: P @ V * [1 - c // 8 % 2 for c in range(64)],
        "in every 16 columns of O, the last 8 are 0",
        "Which columns of O do the last two of the four words, b2 and b3, belong to?",
        PRODUCT,
    ),
    (
        lambda P, V: P @ as_if_in_order(V),
        "your kernel reads the pieces of V as if they were stored in order",
        "At which index does a piece of a row begin, according to `piece_at`?",
        FETCH,
    ),
    (
        lambda P, V: _tiles(P, V, False),
        "the sums contain only the values of the last tile",
        "`mix_values` should add to `mixed`. What does `mixed` hold when the second tile begins?",
        PRODUCT,
    ),
    (
        lambda P, V: _tiles(P, V, True),
        "the sums include only the last 16 keys",
        "`mix_values` should add to `mixed`. What does `mixed` hold when iteration k = 1 begins?",
        PRODUCT,
    ),
    *ORDERS,
)

TASK = Task(
    id="mix_values",
    title="Weights as an operand",
    lesson="11b",
    position=3,
    parameters=("P", "V", "O"),
    output="O",
    grid=(1,),
    block=(32,),
    shapes=("16,64", "64,64", "16,64"),
    dtypes={"V": "bfloat16"},
    reference=lambda P, V: rounded(P) @ V,
    asks=("float32", "conflict-free"),
    uses=("piece_at",),
    loads=(2 * 16 + 2 * 64) / (16 * 64),  # a weight has the bytes of two values
    wrong_ideas=tuple(
        WrongIdea(lambda P, V, computes=computes: computes(rounded(P), V), says, hint, place)
        for computes, says, hint, place in IDEAS
    ),
    formula="O = P @ V, with the weights P rounded to bfloat16",
    hints=(
        "In the figure of lesson 10, compare a lane's four elements of C with the numbers in "
        "its words of A. Which rows and which columns are they in?",
        "A has 16 columns, but C has only 8. So words 0 and 1 come from piece 2 * k of P, and "
        "words 2 and 3 come from the piece to its right. `pack_bf16(low, high)` rounds two "
        "numbers and packs them into one word.",
        "V plays the role of B in `warp_product` of lesson 10. Load the 16 rows from 16 * k "
        "on with `ldmatrix_x4_trans`, where lanes 16 to 31 point at the next piece, and call "
        "`add_product` twice.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("        a = ...\n", WORDS).replace("            ...\n", FETCHED),
    another=GIVEN.replace("        a = ...\n", WORDS).replace("            ...\n", RIGHT_THEN_DOWN),
    compared="This version points the lanes first across V and then down, as in `score_tile`. So "
    "the first and the third word belong to one piece of the sums.",
    caller='''\
from course_lib.intrinsics import cp_async16, cp_async_commit, cp_async_wait


@cuda.jit
def caller(P, V, O):
    """Loads the weights as `mma` would leave them, and calls `mix_values` for each of two tiles of
    V."""
    sV = cuda.shared.array((64, 64), np.uint16, alignment=128)
    weights = cuda.local.array((4, 4), float32)
    mixed = cuda.local.array((8, 4), float32)
    lane = np.uint32(cuda.threadIdx.x)
    for i in range(lane, 512, 32):
        cp_async16(sV, piece_at(i // 8, i % 8), V, i * 8)
    cp_async_commit()
    cp_async_wait(0)
    cuda.syncthreads()
    for j in range(8):
        for c in range(4):
            mixed[j, c] = 0
    for tile in range(2):
        for j in range(4):
            for c in range(4):
                column = 32 * tile + 8 * j + lane % 4 * 2 + c % 2
                weights[j, c] = P[c // 2 * 8 + lane // 4, column]
        mix_values(mixed, weights, sV[32 * tile : 32 * tile + 32])
    for j in range(8):
        for c in range(4):
            O[c // 2 * 8 + lane // 4, 8 * j + lane % 4 * 2 + c % 2] = mixed[j, c]
''',
    par=9,
    meaning="One `mma` leaves its results in exactly the form in which the next one takes its "
    "operand, so the weights never left the registers. They were only rounded.",
)
