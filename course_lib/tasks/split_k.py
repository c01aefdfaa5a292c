"""A product whose k is cut into parts, so that a small C has blocks enough: split-K."""

from course_lib.registry.exercise import Task, WrongIdea

PARTS = 4
ROWS = 16  # of C: so many threads need an element of B


def _first_part(A, B):
    """The products of the first part of k."""
    length = -(-A.shape[1] // PARTS)
    return A[:, :length] @ B[:length]


GIVEN = '''\
@cuda.jit
def split_k(A, B, C):
    """C += A @ B, where C has 16 rows and holds zeros before the launch. k is cut into four parts.
    Block (x, y) has 16 × 16 threads, and computes 16 columns of C for part y only. K may have any
    size."""
    column, row, part = cuda.grid(1), cuda.threadIdx.y, cuda.blockIdx.y
    if column < C.shape[1]:
        total = float32(0)
        ...
        cuda.atomic.add(C, (row, column), total)
'''
LOOP = """\
        length = (A.shape[1] + 3) // 4
        for k in range(part * length, min((part + 1) * length, A.shape[1])):
            total += A[row, k] * B[k, column]
"""
IN_TURNS = """\
        for k in range(part, A.shape[1], 4):
            total += A[row, k] * B[k, column]
"""

TASK = Task(
    id="split_k",
    title="Four blocks for one tile",
    lesson="06",
    position=6,
    parameters=("A", "B", "C"),
    output="C",
    grid=("N", PARTS),
    shapes=("16,K", "K,N", "16,N"),
    reference=lambda A, B: A @ B,
    asks=("bounds", "race-free", "parallel", "coalesced", "float32"),
    visits={"B": ROWS},
    wrong_ideas=(
        WrongIdea(
            lambda A, B: PARTS * (A @ B),
            "every block adds the whole product, so C holds it four times",
            "Which values of k belong to part number `part`?",
            place=("sum",),
        ),
        WrongIdea(
            lambda A, B: A[:, : A.shape[1] // PARTS * PARTS] @ B[: A.shape[1] // PARTS * PARTS],
            "if 4 does not divide K, no block takes the values of k that are left over",
            "If K is 10, how long are the four parts, and where does the last one end?",
        ),
        WrongIdea(
            lambda A, B: PARTS * _first_part(A, B),
            "all four blocks take the first part of k",
            "At which value of k does the part of block (0, 1) begin?",
        ),
    ),
    formula="C = A @ B",
    hints=(
        "Cut the values of k into four parts of equal length. At which value of k does part number "
        "`part` begin, and at which value does it end?",
        "If 4 does not divide K, round the length up, and let the last part end at K.",
        "Or deal out the values of k like cards: block y takes k = y, y + 4, y + 8, …",
    ),
    given=GIVEN,
    answer=GIVEN.replace("        ...\n", LOOP),
    another=GIVEN.replace("        ...\n", IN_TURNS),
    compared="In this version, a block takes every fourth value of k instead of a contiguous "
    "part, so there is no length to compute and no edge to handle.",
    par=3,
    meaning="Your kernel uses **split-K**: four times as many blocks work on the same C. The "
    "price is four additions to each element of C instead of one store.",
)
