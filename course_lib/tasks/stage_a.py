"""A tile of A that is loaded 16 bytes at a time and lies transposed, without bank conflicts."""

from course_lib.registry.exercise import Task, WrongIdea

GIVEN = '''\
from course_lib.intrinsics import load4, store4


@cuda.jit
def stage_a(A, T):
    """T = A.T, where A is 128 x 8. Numbers are loaded four at a time, transposed in shared memory,
    and stored four at a time."""
    sA = cuda.shared.array((8, 128), float32, alignment=16)
    t = cuda.threadIdx.x
    row, column = t // 2, t % 2 * 4  # two threads share a row of A
    four = load4(A, 8 * row + column)
    ...
    cuda.syncthreads()
    k, first = t // 32, t % 32 * 4  # a warp reads a row of the tile
    store4(T, 128 * k + first, load4(sA, 128 * k + first))
'''
STORES = """\
    for m in range(4):
        sA[column + m, row] = four[m]
"""
SWIZZLED = """\
    for m in range(4):
        sA[column + m, row ^ 4 * column] = four[m]
"""


TASK = Task(
    id="stage_a",
    title="Transpose a tile on its way",
    lesson="09",
    position=3,
    parameters=("A", "T"),
    output="T",
    grid=(1,),
    block=(256,),
    shapes=("128,8", "8,128"),
    reference=lambda A: A.T,
    asks=("shared-memory", "race-free", "conflict-free"),
    wide=("A", "T"),
    picture="banks",
    formula="T[k, row] = A[row, k]",
    wrong_ideas=(
        WrongIdea(
            lambda A: A[:, [0, 0, 0, 0, 4, 4, 4, 4]].T,
            "your kernel stores the first of the four numbers in all four columns of a group",
            "Which of the four numbers belongs to column `column + m`?",
        ),
    ),
    hints=(
        "The tile should be stored as `sA[k, row]`. Which k belongs to `four[0]`, and which to "
        "`four[3]`?",
        "You need four stores. Two threads share a row of A, so their k differ by 4. By how many "
        "words do the addresses of their stores differ, and in which bank is each?",
        "A longer row of sA moves the two stores to different banks. The length must stay a "
        "multiple of four, since `load4` reads from the tile. Remember that the flat index "
        "depends on the length, too.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("    ...\n", STORES)
    .replace("(8, 128)", "(8, 132)")
    .replace("load4(sA, 128", "load4(sA, 132"),
    another=GIVEN.replace("    ...\n", SWIZZLED)
    .replace("+ first)", "+ (first ^ k // 4 * 16))", 2)
    .replace("store4(T, 128 * k + (first ^ k // 4 * 16)", "store4(T, 128 * k + first"),
    compared="This version uses an XOR instead of the padding: it moves rows 4 to 7 of the tile "
    "by 16 words. That takes no extra space.",
    par=4,
    meaning="Each store takes one wavefront and each wide load takes four, so no wavefront is "
    "wasted.",
)
