"""A broadcast: each element of a table from one of a column and one of a row."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="column_plus_row",
    title="An addition table",
    lesson="00",
    position=7,
    parameters=("a", "b", "out"),
    output="out",
    block=(4, 4),
    shapes=("M", "N", "M,N"),
    reference=lambda a, b: a[:, None] + b[None, :],
    asks=("bounds",),
    formula="out[row, column] = a[row] + b[column]",
    wrong_ideas=(
        WrongIdea(
            lambda a, b: a[:, None] * b[None, :],
            "your kernel multiplies `a[row]` by `b[column]` instead of adding them",
            "Which operator does the formula put between `a[row]` and `b[column]`?",
        ),
        WrongIdea(
            lambda a, b: a[:, None] - b[None, :],
            "your kernel subtracts one of the two numbers from the other instead of adding them",
            "Which operator does the formula put between `a[row]` and `b[column]`?",
        ),
    ),
    hints=(
        "Which element of `a` does a thread in row 2 need? Which element of `b` does a thread in "
        "column 5 need?",
        "The shape of `out` tells you how many rows and columns the table has, so the guard can "
        "use it.",
    ),
    given='''\
@cuda.jit
def column_plus_row(a, b, out):
    """out[row, column] = a[row] + b[column]. Blocks of 4 x 4 threads cover the table."""
    ...
''',
    answer='''\
@cuda.jit
def column_plus_row(a, b, out):
    """out[row, column] = a[row] + b[column]. Blocks of 4 x 4 threads cover the table."""
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = a[y] + b[x]
''',
    another='''\
@cuda.jit
def column_plus_row(a, b, out):
    """out[row, column] = a[row] + b[column]. Blocks of 4 x 4 threads cover the table."""
    column, row = cuda.grid(2)
    if row < a.shape[0] and column < b.shape[0]:
        out[row, column] = a[row] + b[column]
''',
    compared="This version checks each index against the length of its own array.",
    par=3,
    meaning="Each element of `a` was read once for every column, and each element of `b` once for "
    "every row. A matrix product reads its numbers over and over in the same way, and most of this "
    "course is about avoiding these repeated reads.",
)
