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
        "You have both halves: who am I and am I inside, from `outer_product`; the sum, from "
        "`one_dot_product`.",
        "`cuda.grid(2)` gives x first, then y. Here x is the row.",
        "In the sum, the thread's own row and column stand where the zeros stood.",
    ),
    given='''\
@cuda.jit
def naive_by_rows(A, B, C):
    """C = A @ B, one thread for each element of C; x is the row, y the column."""
    ...
''',
    answer='''\
@cuda.jit
def naive_by_rows(A, B, C):
    """C = A @ B, one thread for each element of C; x is the row, y the column."""
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
    """C = A @ B, one thread for each element of C; x is the row, y the column."""
    row, column = cuda.grid(2)
    if row >= C.shape[0] or column >= C.shape[1]:
        return
    total = float32(0)
    for k in range(A.shape[1]):
        total += A[row, k] * B[k, column]
    C[row, column] = total
''',
    compared="The surplus threads leave: `and` becomes `or`.",
    par=6,
    meaning="This is the first rung of the ladder. M · N threads, none of which waits for another, "
    "and 2 · M · N · K FLOP in all.",
)
