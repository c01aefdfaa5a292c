"""An outer product in registers: two elements of A meet two of B, and make four products."""

from course_lib.registry.exercise import Task, WrongIdea


def _exchanged(A, B):
    return (A @ B).reshape(8, 2, 8, 2).swapaxes(1, 3).reshape(16, 16)


def _replaced_in_a_corner(A, B):
    right = A @ B
    right[1::2, 1::2] = (A[:, -1:] @ B[-1:])[1::2, 1::2]
    return right


TASK = Task(
    id="two_by_two",
    title="A square of four sums",
    lesson="08",
    position=3,
    parameters=("A", "B", "C"),
    output="C",
    grid=(1, 1),
    block=(8, 8),
    shapes=("16,24", "24,16", "16,16"),
    other_sizes=({"24": 40},),
    reference=lambda A, B: A @ B,
    asks=("float32",),
    loads=4 / 4,
    wrong_ideas=(
        WrongIdea(
            _exchanged,
            "in every square, two sums are swapped",
            "For the sum in row y and column x + 1, which elements of A and B do you need?",
        ),
        WrongIdea(
            lambda A, B: A[:, -1:] @ B[-1:],
            "each step along k overwrites the sums, so only the products of the last step are left",
            "What should a sum still contain from the earlier steps along k?",
            place=("sum",),
        ),
        WrongIdea(
            _replaced_in_a_corner,
            "in one of the four places of each square, only the product of the last step along k "
            "is left",
            "What should `sums[1, 1]` still contain from the earlier steps along k?",
        ),
        WrongIdea(
            lambda A, B: A[:, :16] @ B[:16],
            "your loop ends after 16 steps along k",
            "Which entry of `A.shape` is K?",
        ),
    ),
    formula="C = A @ B",
    hints=(
        "A thread's square has the rows y and y + 1 and the columns x and x + 1. Which elements of "
        "A and which elements of B does it need in one step along k?",
        "Load these four numbers into variables first, and then multiply.",
        "Multiply each element of A by each element of B. That makes four products, one for each "
        "sum.",
    ),
    given='''\
@cuda.jit
def two_by_two(A, B, C):
    """C = A @ B, where C is 16 x 16. Each of the 8 x 8 threads computes a square of 2 x 2
    outputs."""
    x, y = 2 * cuda.threadIdx.x, 2 * cuda.threadIdx.y
    sums = cuda.local.array((2, 2), float32)
    sums[0, 0] = sums[0, 1] = sums[1, 0] = sums[1, 1] = 0
    ...
    for i in range(2):
        for j in range(2):
            C[y + i, x + j] = sums[i, j]
''',
    answer='''\
@cuda.jit
def two_by_two(A, B, C):
    """C = A @ B, where C is 16 x 16. Each of the 8 x 8 threads computes a square of 2 x 2
    outputs."""
    x, y = 2 * cuda.threadIdx.x, 2 * cuda.threadIdx.y
    sums = cuda.local.array((2, 2), float32)
    sums[0, 0] = sums[0, 1] = sums[1, 0] = sums[1, 1] = 0
    for k in range(A.shape[1]):
        a0, a1 = A[y, k], A[y + 1, k]
        b0, b1 = B[k, x], B[k, x + 1]
        sums[0, 0] += a0 * b0
        sums[0, 1] += a0 * b1
        sums[1, 0] += a1 * b0
        sums[1, 1] += a1 * b1
    for i in range(2):
        for j in range(2):
            C[y + i, x + j] = sums[i, j]
''',
    another='''\
@cuda.jit
def two_by_two(A, B, C):
    """C = A @ B, where C is 16 x 16. Each of the 8 x 8 threads computes a square of 2 x 2
    outputs."""
    x, y = 2 * cuda.threadIdx.x, 2 * cuda.threadIdx.y
    sums = cuda.local.array((2, 2), float32)
    sums[0, 0] = sums[0, 1] = sums[1, 0] = sums[1, 1] = 0
    b = cuda.local.array(2, float32)
    for k in range(A.shape[1]):
        for j in range(2):
            b[j] = B[k, x + j]
        for i in range(2):
            a = A[y + i, k]
            for j in range(2):
                sums[i, j] += a * b[j]
    for i in range(2):
        for j in range(2):
            C[y + i, x + j] = sums[i, j]
''',
    compared="This version handles a square of any size. It keeps only the two elements of B, "
    "since each element of A is used up before the next is loaded.",
    par=7,
    meaning="In each step, a thread computes an **outer product**: every number of a column is "
    "multiplied by every number of a row. Each number that you loaded, from A or from B, served "
    "two sums.",
)
