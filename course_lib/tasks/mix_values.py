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
    """Multiply two fragments, and add the 16 x 8 product to sums[j]."""
    four = sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3]
    four = mma_m16n8k16_bf16(four, a, (b0, b1))
    sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3] = four


@cuda.jit(device=True)
def mix_values(mixed, P, sV):
    """mixed += P @ sV. P is 16 x 32, in four fragments of 16 x 8, and sV is 32 x 64. `mixed` has
    eight fragments of 16 x 8."""
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
    "A word of A holds two neighbouring numbers of one row. Which of the numbers P[j, 0] to P[j, "
    "3] are neighbours in a row?"
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
        "In the figure of lesson 10, look up which numbers each word of A holds. Which fragment "
        "P[j] holds these numbers?",
        WORD,
    )
    for order in permutations(range(4))
    if order not in ((0, 1, 2, 3), (0, 2, 1, 3))
)
IDEAS: tuple[tuple[Any, str, str, tuple[str, ...]], ...] = (
    (
        lambda P, V: in_parts(P, lambda part: in_order(part, (0, 2, 1, 3))) @ V,
        "words 1 and 2 of A are swapped",
        "Word 1 of A is 8 rows below word 0, and word 2 is 8 columns to the right of word 0. Which "
        "fragment P[j] holds the numbers of each word?",
        WORD,
    ),
    (
        lambda P, V: pairs_exchanged(P) @ V,
        "the two numbers of each word of A are swapped",
        "A word of A packs two neighbouring columns of one row. Which of the two numbers belongs "
        "in the lower half of the word?",
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
        "for every 16 keys, your kernel uses the weights of the first 8 twice and never those of "
        "the last 8",
        "The weights of 16 keys are in two fragments, P[2 * k] and P[2 * k + 1]. Which words of A "
        "come from the second fragment?",
        WORD,
    ),
    (
        lambda P, V: in_parts(P, lambda part: part[:, [*range(8, 16)] * 2]) @ V,
        "for every 16 keys, your kernel uses the weights of the last 8 twice and never those of "
        "the first 8",
        "The weights of 16 keys are in two fragments, P[2 * k] and P[2 * k + 1]. Which words of A "
        "come from the first fragment?",
        WORD,
    ),
    (
        lambda P, V: P[EIGHT_TWICE] @ V,
        "the lower eight rows of O repeat the upper eight",
        "Which of the numbers P[j, 0] to P[j, 3] are in row g + 8?",
        WORD,
    ),
    (
        lambda P, V: P[[*range(8, 16)] * 2] @ V,
        "the upper eight rows of O repeat the lower eight",
        "Which of the numbers P[j, 0] to P[j, 3] are in row g?",
        WORD,
    ),
    (
        lambda P, V: P[:, [t + c for t in (0, TILE) for c in [*range(16)] * 2]] @ V,
        "in each tile, your kernel uses the weights of the first 16 keys for the next 16 keys, too",
        "Which two fragments of P hold the weights of the 16 keys in iteration k?",
        WORD,
    ),
    (
        lambda P, V: P[:, [t + c for t in (0, TILE) for c in [*range(16), *range(8, 24)]]] @ V,
        "in iteration k = 1, your kernel starts with fragment P[1] of the weights",
        "Each iteration uses two fragments of P. With which fragment should iteration k = 1 begin?",
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
        "Each iteration uses 16 rows of V. At which row of V should iteration k = 1 begin?",
        FETCH,
    ),
    (
        lambda P, V: P @ V[[t + c for t in (0, TILE) for c in [*range(16), *range(8, 24)]]],
        "in iteration k = 1, your kernel reads V from row 8 on",
        "Each iteration uses 16 rows of V. At which row of V should iteration k = 1 begin?",
        FETCH,
    ),
    (
        lambda P, V: P @ blocks_turned(V),
        "each 8 x 8 matrix of V is transposed",
        "Each word of B holds two numbers from one column of V, one below the other. Which of the "
        "two `ldmatrix` instructions loads such words?",
        ("call", "ldmatrix_x4_trans", "ldmatrix_x4", "with", "sV"),
    ),
    (
        lambda P, V: P @ quarters_exchanged(V),
        "in each 16 x 16 part of V, the upper right and the lower left quarters are swapped",
        "Which two of the four words from `ldmatrix_x4_trans` belong to the same eight columns of "
        "V?",
        FETCH,
    ),
    (
        lambda P, V: P @ in_sixteens(V, EIGHT_TWICE),
        "in every 16 rows of V, your kernel uses the first 8 twice and never the last 8",
        "Which lanes have to give `ldmatrix_x4_trans` the addresses of the last 8 of the 16 rows?",
        FETCH,
    ),
    (
        lambda P, V: P @ in_sixteens(V.T, EIGHT_TWICE).T,
        "in every 16 columns of V, your kernel uses the first 8 twice and never the last 8",
        "Which lanes have to give `ldmatrix_x4_trans` the addresses of the last 8 of the 16 "
        "columns?",
        FETCH,
    ),
    (
        lambda P, V: P @ in_sixteens(V.T, [*range(8, 16), *range(8)]).T,
        "in every 16 columns of O, the first 8 and the last 8 are swapped",
        "`ldmatrix_x4_trans` returns four words. Which two of them belong to the columns of "
        "mixed[j], and which two to the columns of mixed[j + 1]?",
        PRODUCT,
    ),
    (
        lambda P, V: P @ V[:, [8 * (j // 2 + j % 2) + c for j in range(8) for c in range(8)]],
        "from one `ldmatrix_x4_trans` to the next, your kernel moves on by 8 columns of V instead "
        "of 16",
        "One `ldmatrix_x4_trans` loads 16 columns of V, which are two 16-byte pieces of each row. "
        "At which piece should the next `ldmatrix_x4_trans` begin?",
        FETCH,
    ),
    (
        lambda P, V: P @ V[:, [*range(16)] * 4],
        "your kernel uses the first 16 columns of V for all 64 columns",
        "From which columns of V do the words for mixed[j] and mixed[j + 1] have to come?",
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
        "your kernel reads V as if the 16-byte pieces of each row were stored in order",
        "`piece_at` returns the index at which a 16-byte piece of a row begins. Does your kernel "
        "use this index?",
        FETCH,
    ),
    (
        lambda P, V: _tiles(P, V, False),
        "the sums contain only the values of the last tile",
        "`mix_values` should add to `mixed`. When the second tile begins, `mixed` already holds "
        "the result of the first tile.",
        PRODUCT,
    ),
    (
        lambda P, V: _tiles(P, V, True),
        "the sums include only the last 16 keys",
        "`mix_values` should add to `mixed`. When iteration k = 1 begins, `mixed` already holds "
        "the result of iteration k = 0.",
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
        "In the figure of lesson 10, compare a lane's four elements of C with the numbers in its "
        "words of A. Are these numbers in the same rows and columns?",
        "In an `mma`, A has 16 columns, but C has only 8. So words 0 and 1 of A come from P[2 * "
        "k], and words 2 and 3 come from P[2 * k + 1]. `pack_bf16(low, high)` rounds two numbers "
        "and packs them into one word.",
        "V takes the place of B in `warp_product`. Load the 16 rows from 16 * k on with "
        "`ldmatrix_x4_trans`, where lanes 16 to 31 point at the next 16-byte piece. Then call "
        "`add_product` twice.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("        a = ...\n", WORDS).replace("            ...\n", FETCHED),
    another=GIVEN.replace("        a = ...\n", WORDS).replace("            ...\n", RIGHT_THEN_DOWN),
    compared="In this version, lanes 8 to 15 give the addresses of the columns to the right, as in "
    "`score_tile`. So the first and the third word belong to mixed[j].",
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
    meaning="One `mma` leaves its results in exactly the lanes in which the next `mma` needs them "
    "as an operand, so the weights never left the registers. They were only rounded to bfloat16.",
)
