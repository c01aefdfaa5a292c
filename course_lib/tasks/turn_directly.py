"""A transpose without a tile: what a profiler is to find fault with."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="turn_directly",
    title="A transpose without a tile",
    lesson="08b",
    position=1,
    parameters=("A", "B"),
    output="B",
    grid=("N", "M"),
    block=(32, 32),
    shapes=("M,N", "N,M"),
    reference=lambda A: A.T,
    asks=("bounds",),
    without_shared=True,
    formula="B[column, row] = A[row, column]",
    hints=(
        "Each thread moves one element. Which threads of the grid have no element to move?",
        "The row and the column of a thread are indices into A. Where in B does the element "
        "A[row, column] belong?",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda A: A.reshape(A.shape[1], A.shape[0]),
            "the elements are still in their old order",
            "In which row of B does the second element of a row of A belong?",
        ),
    ),
    given='''\
@cuda.jit
def turn_directly(A, B):
    """B = A.T without shared memory, in blocks of 32 × 32. Each warp reads along a row of A."""
    ...
''',
    answer='''\
@cuda.jit
def turn_directly(A, B):
    """B = A.T without shared memory, in blocks of 32 × 32. Each warp reads along a row of A."""
    column, row = cuda.grid(2)
    if row < A.shape[0] and column < A.shape[1]:
        B[column, row] = A[row, column]
''',
    another='''\
@cuda.jit
def turn_directly(A, B):
    """B = A.T without shared memory, in blocks of 32 × 32. Each warp reads along a row of A."""
    column, row = cuda.grid(2)
    rows, columns = A.shape
    if row >= rows or column >= columns:
        return
    B[column, row] = A[row, column]
''',
    compared="In this version, threads without an element return at once. There is no barrier for "
    "them to miss.",
    par=3,
    meaning="Your kernel is right for every shape. Look at the counters to find out whether it is "
    "also fast.",
)
