"""From lesson 09, unaided: four neighbours for each thread, with wide loads and one wide store."""

from course_lib.registry.exercise import Task, WrongIdea

HEAD = '''\
from course_lib.intrinsics import load4, store4


@cuda.jit
def four_in_a_row(A, B, C):
    """C = A @ B, where C is 8 x 32. Each of the 8 x 8 threads computes four neighbouring outputs of
    a row. It reads B and writes C 16 bytes at a time."""
'''


def _rows_as_long_as_of(A, B):
    """What is read of B if row k is looked for where it would begin if A were meant."""
    k, rest = A.shape[1], B.ravel()
    return rest[[[(k * row + column) % B.size for column in range(32)] for row in range(k)]]


def _with_column(C, j, column):
    """C with another column in the place of each thread's output j."""
    C = C.copy()
    C[:, j::4] = column
    return C


def _single_outputs() -> list[WrongIdea]:
    """One of the four outputs with another element of B, or with its last product alone."""
    ideas = []
    for j in range(4):
        for m in range(4):
            if m != j:

                def other(A, B, j=j, m=m):
                    return _with_column(A @ B, j, (A @ B)[:, m::4])

                ideas.append(
                    WrongIdea(
                        other,
                        f"output {j} of each thread (counted from 0) is the same as its output {m}",
                        "Which of the four elements of B belongs to this output?",
                    )
                )

        def last(A, B, j=j):
            return _with_column(A @ B, j, (A[:, -1:] @ B[-1:])[:, j::4])

        ideas.append(
            WrongIdea(
                last,
                f"output {j} of each thread (counted from 0) holds only the product of the last "
                "step along k",
                "What should this sum still contain from the earlier steps along k?",
            )
        )
    return ideas


TASK = Task(
    id="four_in_a_row",
    title="Four neighbours of a row",
    lesson="10",
    position=1,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1, 1),
    block=(8, 8),
    shapes=("8,24", "24,32", "8,32"),
    other_sizes=({"24": 40},),
    reference=lambda A, B: A @ B,
    asks=("float32",),
    wide=("B", "C"),
    wrong_ideas=(
        WrongIdea(
            lambda A, B: (A @ B).reshape(len(A), -1, 4)[:, :, ::-1].reshape(len(A), -1),
            "each thread stores its four outputs in reverse order",
            "Which of the four sums belongs to the first of the four columns?",
            place=("store",),
        ),
        WrongIdea(
            lambda A, B: A[:, -1:] @ B[-1:],
            "each step along k overwrites the sums, so only the products of the last step are left",
            "What should a sum still contain from the earlier steps along k?",
            place=("sum",),
        ),
        WrongIdea(
            lambda A, B: A @ B[:, ::4].repeat(4, 1),
            "all four outputs of each thread are the same as its first one",
            "Which of the four elements of B belongs to the second output?",
        ),
        WrongIdea(
            lambda A, B: A @ B[:, [4 * (i // 4) + max(i % 4 - 1, 0) for i in range(32)]],
            "each output but the first uses the element of B that belongs to the output before it",
            "Which of the four elements of B belongs to the second output?",
        ),
        WrongIdea(
            lambda A, B: A @ _rows_as_long_as_of(A, B),
            "your kernel computes where a row of B begins as if the rows of B were as long as the "
            "rows of A",
            "How many numbers does a row of B have, so how far apart are the starts of two "
            "neighbouring rows?",
            place=("load", "B"),
        ),
        *_single_outputs(),
    ),
    formula="C = A @ B",
    hints=(
        "Which row of C, and which four columns of that row, does thread (1, 2) compute?",
        "In one step along k, a thread needs one element of A and four neighbouring numbers of a "
        "row of B.",
        "The index of `load4` counts numbers from the first element of B. How many numbers of B "
        "come before the first number of row k?",
    ),
    given=HEAD + "    ...\n",
    answer=HEAD
    + """\
    x, y = 4 * cuda.threadIdx.x, cuda.threadIdx.y
    c0 = c1 = c2 = c3 = float32(0)
    for k in range(A.shape[1]):
        a = A[y, k]
        b = load4(B, k * B.shape[1] + x)
        c0 += a * b[0]
        c1 += a * b[1]
        c2 += a * b[2]
        c3 += a * b[3]
    store4(C, y * C.shape[1] + x, (c0, c1, c2, c3))
""",
    another=HEAD
    + """\
    x, y = 4 * cuda.threadIdx.x, cuda.threadIdx.y
    sums = cuda.local.array(4, float32)
    for j in range(4):
        sums[j] = 0
    for k in range(A.shape[1]):
        b = load4(B, k * B.shape[1] + x)
        for j in range(4):
            sums[j] += A[y, k] * b[j]
    store4(C, y * C.shape[1] + x, (sums[0], sums[1], sums[2], sums[3]))
""",
    compared="This version keeps the sums in a local array, so that a loop can go through them.",
    par=10,
    meaning="In each step along k, a thread issues two loads for four multiply-adds. In the rest "
    "of this lesson, warps load and multiply small matrices where your threads loaded and "
    "multiplied single numbers.",
)
