"""The fragments of one `mma` by ldmatrix, from tiles in shared memory."""

from dataclasses import replace

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.tasks.one_mma import ACROSS_FIRST, NOT_TURNED

GIVEN = '''\
import numpy as np
from course_lib.intrinsics import ldmatrix_x2_trans, ldmatrix_x4, mma_m16n8k16_bf16


@cuda.jit
def one_ldmatrix(A, B, C):
    """One warp computes C = A @ B. A is 16 x 16 and B is 16 x 8, both in bfloat16."""
    sA = cuda.shared.array((16, 16), np.uint16, alignment=16)
    sB = cuda.shared.array((16, 8), np.uint16, alignment=16)
    lane = np.uint32(cuda.threadIdx.x)
    for i in range(lane, 256, 32):
        sA[i // 16, i % 16] = A[i // 16, i % 16]
    for i in range(lane, 128, 32):
        sB[i // 8, i % 8] = B[i // 8, i % 8]
    cuda.syncthreads()
    a = ldmatrix_x4(sA, ...)
    b = ldmatrix_x2_trans(sB, ...)
    g, t = lane // 4, lane % 4
    sums = mma_m16n8k16_bf16((float32(0), float32(0), float32(0), float32(0)), a, b)
    C[g, 2 * t], C[g, 2 * t + 1] = sums[0], sums[1]
    C[g + 8, 2 * t], C[g + 8, 2 * t + 1] = sums[2], sums[3]
'''
ANSWER = GIVEN.replace("(sA, ...)", "(sA, lane % 16 * 16 + lane // 16 * 8)").replace(
    "(sB, ...)", "(sB, lane % 16 * 8)"
)


def pieces_in_a_row(m):
    """The 16 x 16 matrix that the lanes get if lane l points at piece l of the memory."""
    upper_left, lower_left, upper_right, lower_right = m.reshape(4, 8, 8)
    return _joined(upper_left, upper_right, lower_left, lower_right)


def rows_of_eight(m):
    """The same if lane l points at row l % 8, and l // 8 pieces further."""
    pieces = m.reshape(32, 8)
    four = [pieces[[min(2 * row + part, 31) for row in range(8)]] for part in range(4)]
    return _joined(four[0], four[2], four[1], four[3])


def _joined(upper_left, upper_right, lower_left, lower_right):
    import numpy as np  # the registry is read without it, too

    return np.block([[upper_left, upper_right], [lower_left, lower_right]])


FROM_A, FROM_B = ("call", "ldmatrix_x4"), ("call", "ldmatrix_x2_trans")

TASK = Task(
    id="one_ldmatrix",
    title="Rows in, fragments out",
    lesson="10",
    position=3,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1,),
    block=(32,),
    shapes=("16,16", "16,8", "16,8"),
    dtypes={"A": "bfloat16", "B": "bfloat16"},
    reference=lambda A, B: A @ B,
    asks=("float32",),
    wrong_ideas=(
        replace(ACROSS_FIRST, place=FROM_A),
        replace(NOT_TURNED, place=FROM_B),
        WrongIdea(
            lambda A, B: A[:, [*range(8)] * 2] @ B,
            "your kernel uses the left half of A twice and never the right half",
            "Which lanes have to give `ldmatrix_x4` the addresses of the right halves of the rows "
            "of A?",
            place=FROM_A,
        ),
        WrongIdea(
            lambda A, B: A[[*range(8)] * 2] @ B,
            "the lower half of C repeats the upper half",
            "Which rows of A should lanes 8 to 15 point at?",
            place=FROM_A,
        ),
        WrongIdea(
            lambda A, B: A @ B[[*range(8)] * 2],
            "your kernel uses the upper half of B twice and never the lower half",
            "Which rows of B should lanes 8 to 15 point at?",
            place=FROM_B,
        ),
        WrongIdea(
            lambda A, B: pieces_in_a_row(A) @ B,
            "the lanes give the addresses of the 16-byte halves of the rows in order, two lanes "
            "for each row",
            "Lanes 0 and 1 have to give the addresses of rows 0 and 1 of A. How many numbers apart "
            "are these two rows?",
            place=FROM_A,
        ),
        WrongIdea(
            lambda A, B: A[:1, [*range(8)] * 2].repeat(16, 0) @ B,
            "all lanes give the address of the first element of A",
            "Each lane gives the address of one row. Which row of A does lane 5 have to point at?",
            place=FROM_A,
        ),
        WrongIdea(
            lambda A, B: rows_of_eight(A) @ B,
            "lanes 16 to 31 point one row further down, and lanes 8 to 15 and 24 to 31 point at "
            "the right half of a row",
            "The second matrix that `ldmatrix_x4` loads should be the lower left quarter of A. "
            "Which eight lanes give the addresses of its rows?",
            place=FROM_A,
        ),
    ),
    formula="C = A @ B",
    hints=(
        "A row of sA has 16 numbers. At which index does row r begin, and at which index does its "
        "right half begin?",
        "Lanes 0 to 15 point at the left halves of rows 0 to 15. Lanes 16 to 31 point at the "
        "right halves of the same rows.",
        "For A and for B, `lane % 16` is the row. For A, `lane // 16` selects the left or the "
        "right half of that row.",
    ),
    given=GIVEN,
    answer=ANSWER,
    another=ANSWER.replace("(16, 16), np", "(16, 24), np").replace("% 16 * 16 +", "% 16 * 24 +"),
    compared="In this version, the padded rows of A begin 48 bytes apart. The eight rows of a "
    "quarter are in different banks, so a quarter takes one wavefront, not two.",
    par=2,
    meaning="Two instructions replace twelve loads. For each row of 16 bytes, one lane "
    "gave the address, and four lanes each received a part of the row.",
)
