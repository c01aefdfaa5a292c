"""A rectangle of sums in each thread: what lesson 08 taught, unaided."""

from course_lib.registry.exercise import Task, WrongIdea

SECOND_LIKE_FIRST = (
    "the second column of each thread's outputs repeats the first column",
    "Which element of B do the sums of the second column need?",
)


def _in_one_sum(A, B):
    """C if a thread adds the products of both columns to its first sum."""
    C = A.T @ B
    C[:, ::2] += C[:, 1::2]
    C[:, 1::2] = 0
    return C


TASK = Task(
    id="four_by_two",
    title="Four rows, two columns",
    lesson="09b",
    position=1,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1, 1),
    block=(8, 8),
    shapes=("6,32", "6,16", "32,16"),
    other_sizes=({"6": 5},),
    reference=lambda A, B: A.T @ B,
    asks=("float32",),
    loads=6 / 8,
    formula="C = A.T @ B",
    wrong_ideas=(
        WrongIdea(
            lambda A, B: A[-1:].T @ B[-1:],
            "each step along k overwrites the sums, so only the products of the last step are left",
            "What should a sum still contain from the earlier steps along k?",
            place=("sum",),
        ),
        WrongIdea(
            lambda A, B: (A.T @ B)[:, ::2].repeat(2, axis=1), *SECOND_LIKE_FIRST, place=("sum",)
        ),
        WrongIdea(lambda A, B: A.T @ B[:, [*range(8)] * 2], *SECOND_LIKE_FIRST, place=("sum",)),
        WrongIdea(
            _in_one_sum,
            "each thread adds the products of both columns to the sums of its first column",
            "Each thread has eight sums. Which of them should receive a product with the second "
            "element of B?",
            place=("sum",),
        ),
        WrongIdea(
            lambda A, B: A[:-1].T @ B[:-1],
            "your loop leaves out the last step along k",
            "How many rows does A have, and how many of them does your loop visit?",
        ),
    ),
    hints=(
        "Decide which lines belong before the loop over k, which belong inside the loop, and which "
        "belong after it.",
        "In each step along k, load four elements of A and two elements of B, and multiply each "
        "element of A by each element of B.",
        "`cuda.local.array((4, 2), float32)` holds the sums. Your kernel has to set them to zero.",
    ),
    given='''\
@cuda.jit
def four_by_two(A, B, C):
    """C = A.T @ B, where C is 32 x 16. Each of the 8 x 8 threads computes 4 rows and 2 columns of
    C, and needs six loads in each step along k."""
    ...
''',
    answer='''\
@cuda.jit
def four_by_two(A, B, C):
    """C = A.T @ B, where C is 32 x 16. Each of the 8 x 8 threads computes 4 rows and 2 columns of
    C, and needs six loads in each step along k."""
    x, y = 2 * cuda.threadIdx.x, 4 * cuda.threadIdx.y
    sums = cuda.local.array((4, 2), float32)
    for i in range(4):
        sums[i, 0] = sums[i, 1] = 0
    for k in range(A.shape[0]):
        b0, b1 = B[k, x], B[k, x + 1]
        for i in range(4):
            a = A[k, y + i]
            sums[i, 0] += a * b0
            sums[i, 1] += a * b1
    for i in range(4):
        C[y + i, x], C[y + i, x + 1] = sums[i, 0], sums[i, 1]
''',
    another='''\
@cuda.jit
def four_by_two(A, B, C):
    """C = A.T @ B, where C is 32 x 16. Each of the 8 x 8 threads computes 4 rows and 2 columns of
    C, and needs six loads in each step along k."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    sums = cuda.local.array((4, 2), float32)
    for i in range(4):
        for j in range(2):
            sums[i, j] = 0
    for k in range(A.shape[0]):
        b0, b1 = B[k, x], B[k, x + 8]
        for i in range(4):
            a = A[k, y + 8 * i]
            sums[i, 0] += a * b0
            sums[i, 1] += a * b1
    for i in range(4):
        for j in range(2):
            C[y + 8 * i, x + 8 * j] = sums[i, j]
''',
    compared="In this version, the rows and columns of a thread are 8 apart, so neighbouring "
    "threads load neighbouring numbers.",
    par=12,
    meaning="Your kernel needs only three loads for every four multiply-adds.",
)
