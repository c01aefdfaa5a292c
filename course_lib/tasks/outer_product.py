"""Multiply every number of a column with every number of a row: two axes, from memory."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="outer_product",
    title="Every number times every other",
    lesson="02",
    position=1,
    parameters=("a", "b", "C"),
    shapes=("M", "N", "M,N"),
    reference=lambda a, b: a[:, None] * b,
    asks=("bounds",),
    wrong_ideas=(
        WrongIdea(
            lambda a, b: a[:, None] + b,
            "your kernel adds `a[row]` and `b[column]` instead of multiplying them",
            "Which operator does the formula put between `a[row]` and `b[column]`?",
        ),
    ),
    formula="C[row, column] = a[row] * b[column]",
    hints=(
        "You need three lines, as in lesson 00: one finds the thread's element, one checks that "
        "this element is inside C, and one writes it.",
        "`cuda.grid(2)` returns x first, and here x is the column.",
    ),
    given='''\
@cuda.jit
def outer_product(a, b, C):
    """C[row, column] = a[row] * b[column], where x is the column."""
    ...
''',
    answer='''\
@cuda.jit
def outer_product(a, b, C):
    """C[row, column] = a[row] * b[column], where x is the column."""
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = a[row] * b[column]
''',
    another='''\
@cuda.jit
def outer_product(a, b, C):
    """C[row, column] = a[row] * b[column], where x is the column."""
    left, top = cuda.grid(2)
    across, down = cuda.gridsize(2)
    for row in range(top, C.shape[0], down):
        for column in range(left, C.shape[1], across):
            C[row, column] = a[row] * b[column]
''',
    compared="This version uses the loop of lesson 01 once for each axis, so it is right for any "
    "grid.",
    par=3,
    meaning="You have multiplied your first matrices: `a` is M × 1 and `b` is 1 × N, so every "
    "element of `C` is a single product. If `a` had K columns and `b` had K rows, each element "
    "would be a sum of K products.",
)
