"""A working kernel with one buffer for its tiles, to be given a second one."""

from course_lib.registry.exercise import Task, WrongIdea

HEAD = '''\
from course_lib.intrinsics import load4, store4


@cuda.jit
def two_buffers(A, B, C):
    """C = A.T @ B, where A and B are K x 32. Each thread computes 4 x 4 of the 32 x 32 outputs. A
    tile holds 8 steps along k."""
'''
GIVEN = (
    HEAD
    + """\
    sA = cuda.shared.array(256, float32, alignment=16)
    sB = cuda.shared.array(256, float32, alignment=16)
    sums = cuda.local.array((4, 4), float32)
    t = cuda.threadIdx.x
    y, x = t // 8 * 4, t % 8 * 4
    for i in range(4):
        for j in range(4):
            sums[i, j] = 0
    for start in range(0, A.shape[0], 8):
        a, b = load4(A, 32 * start + 4 * t), load4(B, 32 * start + 4 * t)
        store4(sA, 4 * t, a)
        store4(sB, 4 * t, b)
        cuda.syncthreads()
        for k in range(8):
            p, q = load4(sA, 32 * k + y), load4(sB, 32 * k + x)
            for i in range(4):
                for j in range(4):
                    sums[i, j] += p[i] * q[j]
        cuda.syncthreads()
    for i in range(4):
        store4(C, 32 * (y + i) + x, (sums[i, 0], sums[i, 1], sums[i, 2], sums[i, 3]))
"""
)
LOOP = GIVEN[GIVEN.index("    for start") : GIVEN.index("    for i in range(4):\n        store4")]
TWO = """\
    store4(sA, 4 * t, load4(A, 4 * t))
    store4(sB, 4 * t, load4(B, 4 * t))
    cuda.syncthreads()
    now = 0
    for start in range(8, A.shape[0] + 8, 8):
        if start < A.shape[0]:
            a, b = load4(A, 32 * start + 4 * t), load4(B, 32 * start + 4 * t)
        for k in range(8):
            p, q = load4(sA, now + 32 * k + y), load4(sB, now + 32 * k + x)
            for i in range(4):
                for j in range(4):
                    sums[i, j] += p[i] * q[j]
        now = 256 - now
        if start < A.shape[0]:
            store4(sA, now + 4 * t, a)
            store4(sB, now + 4 * t, b)
        cuda.syncthreads()
"""
AT_THE_TOP = """\
    a, b = load4(A, 4 * t), load4(B, 4 * t)
    for start in range(0, A.shape[0], 8):
        now = start // 8 % 2 * 256
        store4(sA, now + 4 * t, a)
        store4(sB, now + 4 * t, b)
        cuda.syncthreads()
        if start + 8 < A.shape[0]:
            a, b = load4(A, 32 * (start + 8) + 4 * t), load4(B, 32 * (start + 8) + 4 * t)
        for k in range(8):
            p, q = load4(sA, now + 32 * k + y), load4(sB, now + 32 * k + x)
            for i in range(4):
                for j in range(4):
                    sums[i, j] += p[i] * q[j]
"""
BOTH = "shared.array(256", "shared.array(512"


def only_tile(A, B, number):
    """What one tile contributes."""
    tile = slice(8 * number, 8 * number + 8)
    return A[tile].T @ B[tile]


def first_tile_again(A, B):
    """The sum if every tile were the first one."""
    return len(A) // 8 * only_tile(A, B, 0)


def without_the_last(A, B):
    """The sum without the last tile."""
    return A[:-8].T @ B[:-8]


def without_the_first(A, B):
    """The sum without the first tile."""
    return A[8:].T @ B[8:]


def first_tile_twice(A, B):
    """The sum if the loop brings the first tile once more, and never comes to the last."""
    return A[:-8].T @ B[:-8] + only_tile(A, B, 0)


def second_tile_twice(A, B):
    """The sum if the second tile is brought before the loop."""
    return without_the_first(A, B) + only_tile(A, B, 1)


def one_row_on(A, B):
    """The sum if each tile but the first begins one row below the begin of the one before."""
    import numpy as np  # the registry is read without it, too

    rows = np.concatenate([np.arange(8), *(n + np.arange(1, 9) for n in range(0, len(A) - 8, 8))])
    return A[rows].T @ B[rows]


def of_other_threads(A, B):
    """The sums if each thread reads A at its columns, and B at its rows."""
    blocks = (A.T @ B).reshape(8, 4, 8, 4)
    return blocks.transpose(2, 1, 0, 3).reshape(32, 32)


def A_for_B(tiles):
    """The sum if these rows of B are A's."""

    def computes(A, B):
        taken = B.copy()
        taken[tiles] = A[tiles]
        return A.T @ taken

    return computes


LOST = "What should a sum still contain from the earlier iterations of the loop?"
IN_SB = "Which array does your kernel load into `sB`, first before the loop and then inside it?"
IDEAS = (
    *(
        WrongIdea(
            computes,
            f"each {what} overwrites the sums, so only the products of the last {what} are left",
            LOST,
            place=("sum",),
        )
        for computes, what in (
            (lambda A, B: A[-1:].T @ B[-1:], "step along k"),
            (lambda A, B: A[-8:].T @ B[-8:], "tile"),
        )
    ),
    WrongIdea(
        second_tile_twice,
        "your kernel multiplies the second tile twice and never the first one",
        "Which tile should your kernel load before the loop?",
        place=("sum",),
    ),
    WrongIdea(
        one_row_on,
        "each tile begins only one row below the first row of the previous tile",
        "How many rows of A does a tile have, and how much further down does the next tile begin?",
        place=("sum",),
    ),
    WrongIdea(
        of_other_threads,
        "each thread takes the numbers of A at its columns and the numbers of B at its rows, "
        "instead of the other way round",
        "Which of y and x chooses a row of C, and which array has a column for each row of C?",
        place=("sum",),
    ),
    *(
        WrongIdea(
            A_for_B(tiles),
            f"in {where}, your kernel uses the numbers of A instead of the numbers of B",
            IN_SB,
            place=("sum",),
        )
        for tiles, where in (
            (slice(None), "all tiles"),
            (slice(8), "the first tile"),
            (slice(8, None), "all tiles but the first"),
        )
    ),
    WrongIdea(
        first_tile_twice,
        "your kernel multiplies the first tile twice and never the last one",
        "The first tile is loaded before the loop. Which tile should the loop load first?",
        place=("sum",),
    ),
    WrongIdea(
        without_the_last,
        "the last tile is never multiplied",
        "When the loop ends, which tile is in a buffer but has never been multiplied?",
        place=("loop",),
    ),
    WrongIdea(
        without_the_first,
        "the first tile is never multiplied",
        "Which tile has to be loaded before the loop begins?",
        place=("sum",),
    ),
    WrongIdea(
        first_tile_again,
        "your kernel multiplies the first tile in every iteration",
        "In the second iteration, which buffer should your kernel read, the first or the second?",
        place=("sum",),
    ),
)
TASK = Task(
    id="two_buffers",
    title="From one buffer to two",
    lesson="09b",
    position=2,
    parameters=("A", "B", "C"),
    output="C",
    block=(64,),
    tile=(32, 32),
    shapes=("24,32", "24,32", "32,32"),
    other_sizes=({"24": 40}, {"24": 8}),
    reference=lambda A, B: A.T @ B,
    asks=("shared-memory", "race-free", "reuse", "float32"),
    wide=("A", "B"),
    barriers=4,
    overlaps=True,
    picture="buffers",
    tile_steps=8,
    formula="C = A.T @ B",
    wrong_ideas=IDEAS,
    hints=(
        "Let buffer 0 be the words 0 to 255 of each array, and let buffer 1 be the words from "
        "256 on. Load the first tile before the loop.",
        "In the loop, load the next tile into registers, if there is one, and multiply the "
        "current tile. Then store the next tile in the *other* buffer, wait at the barrier, and "
        "swap the buffers.",
        "Let `now` be 0 or 256, the start of the buffer that is being read. Then `256 - now` is "
        "the start of the other buffer.",
    ),
    given=GIVEN,
    answer=GIVEN.replace(LOOP, TWO).replace(*BOTH),
    another=GIVEN.replace(LOOP, AT_THE_TOP).replace(*BOTH),
    compared="This version stores the tile at the top of the loop, after the arithmetic of the "
    "previous iteration. That saves one `if`.",
    par=14,
    meaning="Your kernel needs one barrier per tile, and the wait for global memory is hidden "
    "behind the multiply-adds.",
)
