"""The naive matmul with x as the row: right, and slow."""

from course_lib.exercise import Task

TASK = Task(
    id="naive_by_rows",
    title="The same product, x as the row",
    lesson="02",
    parameters=("A", "B", "C"),
    grid=("M", "N"),
    block=(16, 16),
    shapes=("M,K", "K,N", "M,N"),
    family="product",
    sizes=((33, 19, 37), (31, 33, 17), (17, 40, 5)),
    asks=("bounds",),
    hints=(
        "`cuda.grid(2)` gives x first, then y.",
        "Here the grid has as many blocks in x as it takes to cover the rows.",
    ),
    given='''\
@cuda.jit
def naive_by_rows(A, B, C):
    """C = A @ B; x counts the rows of C, y its columns."""
    ...
''',
    answer='''\
@cuda.jit
def naive_by_rows(A, B, C):
    """C = A @ B; x counts the rows of C, y its columns."""
    row, column = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, column]
        C[row, column] = total
''',
    par=6,
)
