"""The naive matmul with x as the row: right, and slow."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="naive_by_rows",
    title="The whole product, x as the row",
    lesson="02",
    position=3,
    parameters=("A", "B", "C"),
    grid=("M", "N"),
    block=(16, 16),
    shapes=("M,K", "K,N", "M,N"),
    rung="naive",
    family="product",
    sizes=((33, 19, 37), (31, 33, 17), (17, 40, 5)),
    asks=("bounds", "float32"),
    hints=(
        "You have already written both halves: `outer_product` finds a thread's element and "
        "checks that it is inside C, and `one_dot_product` computes the sum.",
        "`cuda.grid(2)` returns x first, then y. Here x is the row.",
        "Copy the sum from `one_dot_product`, and replace the zeros in its indices with the row "
        "and the column of the thread.",
    ),
    given='''\
@cuda.jit
def naive_by_rows(A, B, C):
    """C = A @ B. Each thread computes one element of C. x is the row, and y is the column."""
    ...
''',
    answer='''\
@cuda.jit
def naive_by_rows(A, B, C):
    """C = A @ B. Each thread computes one element of C. x is the row, and y is the column."""
    row, column = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, column]
        C[row, column] = total
''',
    another='''\
@cuda.jit
def naive_by_rows(A, B, C):
    """C = A @ B. Each thread computes one element of C. x is the row, and y is the column."""
    row, column = cuda.grid(2)
    if row >= C.shape[0] or column >= C.shape[1]:
        return
    total = float32(0)
    for k in range(A.shape[1]):
        total += A[row, k] * B[k, column]
    C[row, column] = total
''',
    compared="In this version, the surplus threads return at once, so the test is reversed: `and` "
    "becomes `or`.",
    par=6,
    meaning="Your kernel is the first rung of the ladder. Its M·N threads never wait for each "
    "other, and together they do 2·M·N·K FLOP.",
)
