"""Every row of A against every row of B, from an empty cell: what lesson 02 taught, unaided."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="rows_with_rows",
    title="Every row with every row",
    lesson="04",
    parameters=("A", "B", "C"),
    shapes=("M,K", "N,K", "M,N"),
    reference=lambda A, B: A @ B.T,
    asks=("bounds", "float32"),
    wrong_ideas=(
        WrongIdea(
            lambda A, B: A[:, -1:] * B[:, -1],
            "each element is one product, that of the last k, and no sum",
            "What does `=` do to the products that came before?",
            place=("sum", "replaced"),
        ),
        WrongIdea(
            lambda A, B: A @ B.T + A[:, :1] * B[:, 0],
            "the first product is in each sum twice",
            "What is in the total before the loop begins?",
        ),
    ),
    formula="C[row, column] = the sum of A[row, k] * B[column, k] over all k",
    hints=(
        "Who am I, am I inside, and which sum is mine?",
        "Which index of B does your column choose, and which one is k?",
    ),
    given='''\
@cuda.jit
def rows_with_rows(A, B, C):
    """C[row, column] = row `row` of A times row `column` of B; x is the column."""
    ...
''',
    answer='''\
@cuda.jit
def rows_with_rows(A, B, C):
    """C[row, column] = row `row` of A times row `column` of B; x is the column."""
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[column, k]
        C[row, column] = total
''',
    another='''\
@cuda.jit
def rows_with_rows(A, B, C):
    """C[row, column] = row `row` of A times row `column` of B; x is the column."""
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        a, b = A[row], B[column]
        total = float32(0)
        for k in range(A.shape[1]):
            total += a[k] * b[k]
        C[row, column] = total
''',
    compared="`A[row]` is a **view**: nothing is copied.",
    par=6,
    meaning="A matrix product, from memory. (Its lanes walk down a column of B; you know what "
    "that costs.)",
)
