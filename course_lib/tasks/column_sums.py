"""The sum of each column, one thread a column: the fast one of two ways to add up a matrix."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="column_sums",
    title="Add up every column",
    lesson="03",
    position=4,
    parameters=("A", "y"),
    output="y",
    grid=("N",),
    block=(32,),
    shapes=("M,N", "N"),
    reference=lambda A: A.sum(axis=0),
    asks=("bounds", "coalesced", "float32"),
    formula="y[column] = A[0, column] + A[1, column] + …",
    hints=(
        "Here the grid has one axis. Which number of a thread says which column is its own?",
        "A thread walks down its column, so the loop runs over the rows of A.",
        "The guard compares the column with `y.shape[0]`; the loop ends at `A.shape[0]`.",
    ),
    given='''\
@cuda.jit
def column_sums(A, y):
    """y[column] = the sum of that column of A, one thread a column, in blocks of 32."""
    ...
''',
    answer='''\
@cuda.jit
def column_sums(A, y):
    """y[column] = the sum of that column of A, one thread a column, in blocks of 32."""
    column = cuda.grid(1)
    if column < y.shape[0]:
        total = float32(0)
        for row in range(A.shape[0]):
            total += A[row, column]
        y[column] = total
''',
    another='''\
@cuda.jit
def column_sums(A, y):
    """y[column] = the sum of that column of A, one thread a column, in blocks of 32."""
    column = cuda.grid(1)
    if column < y.shape[0]:
        even = odd = float32(0)
        for row in range(0, A.shape[0] - 1, 2):
            even += A[row, column]
            odd += A[row + 1, column]
        if A.shape[0] % 2 == 1:
            even += A[A.shape[0] - 1, column]
        y[column] = even + odd
''',
    compared="Two sums that do not wait for each other.",
    par=6,
    meaning="Each thread walks **down**, a whole row apart from step to step. What counts is what "
    "the 32 lanes ask for at the same moment, and that is one stretch of a row.",
)
