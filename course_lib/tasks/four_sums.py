"""Four sums in the registers of one thread, so that an element of B serves them all."""

from course_lib.registry.exercise import Task, WrongIdea


def _into_one(A, B):
    import numpy as np

    rows = np.zeros((4, B.shape[1]))
    rows[0] = A.sum(axis=0) @ B
    return rows


TASK = Task(
    id="four_sums",
    title="Four sums for each thread",
    lesson="08",
    position=2,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1,),
    block=(32,),
    shapes=("4,24", "24,32", "4,32"),
    other_sizes=({"24": 40},),
    reference=lambda A, B: A @ B,
    asks=("float32",),
    loads=5 / 4,
    wrong_ideas=(
        WrongIdea(
            lambda A, B: A[:, -1:] @ B[-1:],
            "each step along k overwrites the sums, so only the products of the last step are left",
            "What should `sums[i]` still contain from the earlier steps along k?",
            place=("sum",),
        ),
        WrongIdea(
            _into_one,
            "each thread adds all of its products to its first sum",
            "Which of the four sums belongs to row i?",
        ),
        WrongIdea(
            lambda A, B: A.sum(axis=1)[:, None] + B.sum(axis=0),
            "your kernel adds the elements of A and B to each other instead of multiplying them",
            "Which operation combines `A[i, k]` with the element of B before the result is added "
            "to the sum?",
        ),
    ),
    formula="C = A @ B",
    hints=(
        "In each step along k, all four rows need the same element of B. Which element of B do "
        "they need?",
        "Before the loop over the rows, load the element of B into a variable of its own.",
        "Inside the loop over i, load only `A[i, k]`, and multiply it by the variable that holds "
        "the element of B.",
    ),
    given='''\
@cuda.jit
def four_sums(A, B, C):
    """C = A @ B, where C has 4 rows. Each thread computes the four outputs of its column."""
    x = cuda.threadIdx.x
    sums = cuda.local.array(4, float32)
    for i in range(4):
        sums[i] = 0
    for k in range(A.shape[1]):
        ...
    for i in range(4):
        C[i, x] = sums[i]
''',
    answer='''\
@cuda.jit
def four_sums(A, B, C):
    """C = A @ B, where C has 4 rows. Each thread computes the four outputs of its column."""
    x = cuda.threadIdx.x
    sums = cuda.local.array(4, float32)
    for i in range(4):
        sums[i] = 0
    for k in range(A.shape[1]):
        b = B[k, x]
        for i in range(4):
            sums[i] += A[i, k] * b
    for i in range(4):
        C[i, x] = sums[i]
''',
    another='''\
@cuda.jit
def four_sums(A, B, C):
    """C = A @ B, where C has 4 rows. Each thread computes the four outputs of its column."""
    x = cuda.threadIdx.x
    s0 = s1 = s2 = s3 = float32(0)
    for k in range(A.shape[1]):
        b = B[k, x]
        s0 += A[0, k] * b
        s1 += A[1, k] * b
        s2 += A[2, k] * b
        s3 += A[3, k] * b
    C[0, x], C[1, x], C[2, x], C[3, x] = s0, s1, s2, s3
''',
    compared="This version has four variables instead of an array. It is longer, but the sums "
    "are certain to be in registers.",
    par=3,
    meaning="You loaded each element of B once and used it for four sums. But you used each "
    "element of A for only one sum.",
)
