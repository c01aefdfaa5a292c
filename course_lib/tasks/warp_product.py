"""A warp adds a product of 32 x 64 by 64 x 64, from tiles in shared memory, to its sums."""

from course_lib.registry.exercise import Task, WrongIdea

GIVEN = '''\
import numpy as np
from course_lib.intrinsics import ldmatrix_x4, ldmatrix_x4_trans, mma_m16n8k16_bf16


@cuda.jit(device=True)
def add_product(sums, i, j, a, b0, b1):
    """Multiply two fragments, and add the 16 x 8 product to sums[i, j]."""
    four = sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3]
    four = mma_m16n8k16_bf16(four, a, (b0, b1))
    sums[i, j, 0], sums[i, j, 1], sums[i, j, 2], sums[i, j, 3] = four


@cuda.jit(device=True)
def warp_product(sums, sA, sB):
    """sums += sA @ sB, where sA is 32 x 64 and sB is 64 x 64. piece_at says where pieces begin."""
    lane = np.uint32(cuda.threadIdx.x)
    b = cuda.local.array((8, 2), np.uint32)
    for k in range(4):  # each k stands for 16 steps
        ...
'''
WRITTEN = """\
        for j in range(0, 8, 2):
            b[j, 0], b[j, 1], b[j + 1, 0], b[j + 1, 1] = ldmatrix_x4_trans(
                sB, piece_at(16 * k + lane % 16, j + lane // 16)
            )
        for i in range(2):
            a = ldmatrix_x4(sA, piece_at(16 * i + lane % 16, 2 * k + lane // 16))
            for j in range(8):
                add_product(sums, i, j, a, b[j, 0], b[j, 1])
"""
A_KEPT = """\
        a0 = ldmatrix_x4(sA, piece_at(lane % 16, 2 * k + lane // 16))
        a1 = ldmatrix_x4(sA, piece_at(16 + lane % 16, 2 * k + lane // 16))
        for j in range(0, 8, 2):
            four = ldmatrix_x4_trans(sB, piece_at(16 * k + lane % 16, j + lane // 16))
            for half in range(2):
                b[half, 0], b[half, 1] = four[0], four[1]
                if half == 1:
                    b[half, 0], b[half, 1] = four[2], four[3]
                add_product(sums, 0, j + half, a0, b[half, 0], b[half, 1])
                add_product(sums, 1, j + half, a1, b[half, 0], b[half, 1])
"""


def blocks_turned(m):
    """A 64 x 64 matrix in which each 8 x 8 matrix is transposed."""
    return m.reshape(8, 8, 8, 8).transpose(0, 3, 2, 1).reshape(64, 64)


def as_if_in_order(m):
    """What a matrix with XORed pieces is if each is taken for the piece of its place."""
    at = [[8 * (c // 8 ^ r % 8) + c % 8 for c in range(64)] for r in range(len(m))]
    return m[[[r] for r in range(len(m))], at]


def quarters_exchanged(m):
    """Each 16 x 16 part with its upper right and lower left quarters exchanged."""
    rows, columns = m.shape
    parts = m.reshape(rows // 16, 2, 8, columns // 16, 2, 8)
    return parts.transpose(0, 4, 2, 3, 1, 5).reshape(rows, columns)


def _column_of_the_row(A, B):
    """What comes out if the 8 columns of B are chosen by i and not by j."""
    import numpy as np  # the registry is read without it, too

    C = A @ B
    return np.concatenate([np.tile(C[16 * i : 16 * i + 16, 8 * i : 8 * i + 8], 8) for i in (0, 1)])


TASK = Task(
    id="warp_product",
    title="A warp's tiles",
    lesson="10",
    position=5,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1,),
    block=(32,),
    shapes=("32,64", "64,64", "32,64"),
    dtypes={"A": "bfloat16", "B": "bfloat16"},
    reference=lambda A, B: A @ B,
    asks=("float32", "conflict-free"),
    uses=("piece_at",),
    loads=2 * (32 + 64) / (32 * 64),  # once from global memory into the tiles, once from there
    wrong_ideas=(
        WrongIdea(
            lambda A, B: A @ blocks_turned(B),
            "each 8 x 8 matrix of B is transposed",
            "Each word of B holds two numbers from one column, one below the other. Which of the "
            "two ldmatrix instructions loads such words?",
            place=("call", "ldmatrix_x4_trans", "ldmatrix_x4", "with", "sB"),
        ),
        WrongIdea(
            lambda A, B: A @ quarters_exchanged(B),
            "in each 16 x 16 part of B, the upper right and the lower left quarters are swapped",
            "Which two of the four words from `ldmatrix_x4_trans` belong to the same eight columns "
            "of B?",
            place=("call", "ldmatrix_x4_trans"),
        ),
        WrongIdea(
            lambda A, B: quarters_exchanged(A) @ B,
            "in each 16 x 16 part of A, the upper right and the lower left quarters are swapped",
            "In which order does `mma` expect the quarters of A?",
            place=("call", "ldmatrix_x4"),
        ),
        WrongIdea(
            lambda A, B: A[[*range(16), *range(8, 24)]] @ B,
            "your kernel reads the lower 16 rows of A from row 8 on",
            "One `mma` takes 16 rows of A. At which row should the rows for i = 1 begin?",
            place=("call", "ldmatrix_x4"),
        ),
        WrongIdea(
            lambda A, B: A @ B[:, [*range(8)] * 8],
            "your kernel uses the first 8 columns of B for all 64 columns",
            "Which words of B belong to the eight columns of sums[i, j]?",
            place=("call", "add_product"),
        ),
        WrongIdea(
            _column_of_the_row,
            "your kernel uses i to choose the words of B, so for each i, all eight results sums[i, "
            "j] use the same words",
            "Which words of B belong to the eight columns of sums[i, j]?",
            place=("call", "add_product"),
        ),
        WrongIdea(
            lambda A, B: A[:, [*range(16)] * 4] @ B,
            "your kernel multiplies the first 16 columns of A by all rows of B",
            "Iteration k needs 16 columns of A. In which two 16-byte pieces of a row are these "
            "columns?",
            place=("call", "ldmatrix_x4"),
        ),
        WrongIdea(
            lambda A, B: A @ B[[*range(16)] * 4],
            "your kernel multiplies all columns of A by the first 16 rows of B",
            "Which rows of B does your kernel need in iteration k?",
            place=("call", "ldmatrix_x4_trans"),
        ),
        WrongIdea(
            lambda A, B: A @ B[:, [8 * (j // 2 + j % 2) + c for j in range(8) for c in range(8)]],
            "from one `ldmatrix_x4_trans` to the next, your kernel moves on by 8 columns of B "
            "instead of 16",
            "One `ldmatrix_x4_trans` loads 16 columns of B, which are two 16-byte pieces of each "
            "row. At which piece should the next `ldmatrix_x4_trans` begin?",
            place=("call", "ldmatrix_x4_trans"),
        ),
        WrongIdea(
            lambda A, B: (A @ B) * [1 - c // 8 % 2 for c in range(64)],
            "in every 16 columns of C, the last 8 are 0",
            "Which columns of C do the last two of the four words, b2 and b3, belong to?",
            place=("call", "add_product"),
        ),
        WrongIdea(
            lambda A, B: A @ B[[k + r for k in range(4) for r in range(16)]],
            "from one iteration to the next, your kernel moves down B by 1 row instead of 16",
            "Each iteration uses 16 rows of B. At which row of B should iteration k = 1 begin?",
            place=("call", "ldmatrix_x4_trans"),
        ),
        WrongIdea(
            lambda A, B: A[[*range(16)] * 2] @ B,
            "the lower 16 rows of C repeat the upper 16 rows",
            "Which 16 rows of A should the products with i = 1 use?",
            place=("call", "ldmatrix_x4"),
        ),
        WrongIdea(
            lambda A, B: A[:, [8 * k + c for k in range(4) for c in range(16)]] @ B,
            "from one iteration to the next, your kernel moves on by 8 columns of A instead of 16",
            "16 columns are two 16-byte pieces of a row. At which piece should iteration k = 1 "
            "begin?",
            place=("call", "ldmatrix_x4"),
        ),
        WrongIdea(
            lambda A, B: A[:, [16 * k + c % 8 for k in range(4) for c in range(16)]] @ B,
            "in every 16 columns of A, your kernel uses the first 8 twice and never the last 8",
            "Which lanes have to give `ldmatrix_x4` the addresses of the last 8 of the 16 columns "
            "of A?",
            place=("call", "ldmatrix_x4"),
        ),
        WrongIdea(
            lambda A, B: A @ B[:, [16 * (c // 16) + c % 8 for c in range(64)]],
            "in every 16 columns of B, your kernel uses the first 8 twice and never the last 8",
            "Which lanes have to give `ldmatrix_x4_trans` the addresses of the last 8 of the 16 "
            "columns of B?",
            place=("call", "ldmatrix_x4_trans"),
        ),
        WrongIdea(
            lambda A, B: (A @ B).reshape(32, 4, 2, 8)[:, :, ::-1].reshape(32, 64),
            "in every 16 columns of C, the first 8 and the last 8 are swapped",
            "`ldmatrix_x4_trans` returns four words. Which two of them belong to sums[i, j], and "
            "which two to sums[i, j + 1]?",
            place=("call", "ldmatrix_x4_trans"),
        ),
        WrongIdea(
            lambda A, B: (A @ B)[[*range(16, 32), *range(16)]],
            "the upper 16 and the lower 16 rows of C are swapped",
            "Which 16 rows of A should the products with i = 0 use?",
            place=("call", "ldmatrix_x4"),
        ),
        WrongIdea(
            lambda A, B: A[[*range(16), *range(1, 17)]] @ B,
            "the second 16 rows of A begin only one row below the first 16 rows",
            "At which row should the 16 rows for i = 1 begin?",
            place=("call", "ldmatrix_x4"),
        ),
        WrongIdea(
            lambda A, B: as_if_in_order(A) @ as_if_in_order(B),
            "your kernel reads A and B as if the 16-byte pieces of each row were stored in order",
            "`piece_at` returns the index at which a 16-byte piece of a row begins. Does your "
            "kernel use this index?",
            place=("call", "ldmatrix_x4"),
        ),
        WrongIdea(
            lambda A, B: A @ as_if_in_order(B),
            "your kernel reads B as if the 16-byte pieces of each row were stored in order",
            "`piece_at` returns the index at which a 16-byte piece of a row begins. Does your "
            "kernel use this index?",
            place=("call", "ldmatrix_x4_trans"),
        ),
        WrongIdea(
            lambda A, B: as_if_in_order(A) @ B,
            "your kernel reads A as if the 16-byte pieces of each row were stored in order",
            "`piece_at` returns the index at which a 16-byte piece of a row begins. Does your "
            "kernel use this index?",
            place=("call", "ldmatrix_x4"),
        ),
    ),
    formula="C = A @ B",
    hints=(
        "For 16 steps along k, loading 64 columns of B takes four ldmatrix_x4_trans, and loading "
        "32 rows of A takes two ldmatrix_x4.",
        "In each `ldmatrix`, lane l gives the address of row l % 16 of the 16 rows, and lanes 16 "
        "to 31 give the address of the next 16-byte piece of the same row.",
        "First load all words of B into `b`. Then, for each group of 16 rows of A, load their "
        "words and call `add_product` eight times.",
    ),
    given=GIVEN,
    answer=GIVEN.replace("        ...\n", WRITTEN),
    another=GIVEN.replace("        ...\n", A_KEPT),
    compared="This version keeps the eight words of A in registers and loads the words of B four "
    "at a time, which takes fewer registers and as many loads.",
    caller='''\
from course_lib.intrinsics import cp_async16, cp_async_commit, cp_async_wait


@cuda.jit
def caller(A, B, C):
    """Copies both matrices into tiles, calls `warp_product`, and stores the sums."""
    sA = cuda.shared.array((32, 64), np.uint16, alignment=128)
    sB = cuda.shared.array((64, 64), np.uint16, alignment=128)
    sums = cuda.local.array((2, 8, 4), float32)
    lane = np.uint32(cuda.threadIdx.x)
    for i in range(lane, 256, 32):
        cp_async16(sA, piece_at(i // 8, i % 8), A, i * 8)
    for i in range(lane, 512, 32):
        cp_async16(sB, piece_at(i // 8, i % 8), B, i * 8)
    cp_async_commit()
    cp_async_wait(0)
    for i in range(2):
        for j in range(8):
            for c in range(4):
                sums[i, j, c] = 0
    cuda.syncthreads()
    warp_product(sums, sA, sB)
    for i in range(2):
        for j in range(8):
            for c in range(4):
                C[16 * i + c // 2 * 8 + lane // 4, 8 * j + lane % 4 * 2 + c % 2] = sums[i, j, c]
''',
    par=8,
    meaning="The warp issued 64 `mma` and 24 `ldmatrix`, and it loaded no number twice. This is "
    "the outer product of lesson 08, with matrices in place of numbers.",
)
