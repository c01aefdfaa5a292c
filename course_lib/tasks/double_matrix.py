"""A map over a matrix: two axes, x is the column."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="double_matrix",
    title="Double every element of a matrix",
    lesson="00",
    position=6,
    parameters=("A", "out"),
    output="out",
    block=(4, 4),
    shapes=("M,N", "M,N"),
    reference=lambda A: 2 * A,
    asks=("bounds",),
    formula="out[row, column] = 2 * A[row, column]",
    wrong_ideas=(
        WrongIdea(
            lambda A: A**2,
            "your kernel squares each number instead of doubling it",
            "What is twice 3, and what does your kernel turn a 3 into?",
        ),
        WrongIdea(
            lambda A: A + 2,
            "your kernel adds 2 to each number instead of doubling it",
            "What is twice 3, and what does your kernel turn a 3 into?",
        ),
        WrongIdea(
            lambda A: A / 2,
            "your kernel halves each number instead of doubling it",
            "What is twice 3, and what does your kernel turn a 3 into?",
        ),
    ),
    hints=(
        "`cuda.grid(2)` returns x first. Is x the first or the second index of `A`?",
        "x counts the columns and y the rows, so an element is `A[y, x]`.",
        "The guard has to check both x and y.",
    ),
    given='''\
@cuda.jit
def double_matrix(A, out):
    """out = 2 * A. Blocks of 4 x 4 threads cover the matrix."""
    ...
''',
    answer='''\
@cuda.jit
def double_matrix(A, out):
    """out = 2 * A. Blocks of 4 x 4 threads cover the matrix."""
    x, y = cuda.grid(2)
    if y < A.shape[0] and x < A.shape[1]:
        out[y, x] = 2 * A[y, x]
''',
    another='''\
@cuda.jit
def double_matrix(A, out):
    """out = 2 * A. Blocks of 4 x 4 threads cover the matrix."""
    column, row = cuda.grid(2)
    rows, columns = A.shape
    if row < rows and column < columns:
        out[row, column] = 2 * A[row, column]
''',
    compared="This version names its indices, so you need not remember that y is the row.",
    par=3,
    meaning="x is the column, and y is the row. Keep x and y apart, and you avoid the most common "
    "mistake in CUDA.",
)
