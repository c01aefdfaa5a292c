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
        "One thread moves one element. Which threads of the grid have none?",
        "Row and column are those of A. Where does this element stand in B?",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda A: A.reshape(A.shape[1], A.shape[0]),
            "the elements stand in their old order",
            "In which row of B does the second element of a row of A belong?",
        ),
    ),
    given='''\
@cuda.jit
def turn_directly(A, B):
    """B = A.T without shared memory, in blocks of 32 × 32; each warp reads a row of A."""
    ...
''',
    answer='''\
@cuda.jit
def turn_directly(A, B):
    """B = A.T without shared memory, in blocks of 32 × 32; each warp reads a row of A."""
    column, row = cuda.grid(2)
    if row < A.shape[0] and column < A.shape[1]:
        B[column, row] = A[row, column]
''',
    another='''\
@cuda.jit
def turn_directly(A, B):
    """B = A.T without shared memory, in blocks of 32 × 32; each warp reads a row of A."""
    column, row = cuda.grid(2)
    rows, columns = A.shape
    if row >= rows or column >= columns:
        return
    B[column, row] = A[row, column]
''',
    compared="Threads without an element leave at once; there is no barrier that they could miss.",
    par=3,
    meaning="Right on every shape. Is it good? That is a question for counters.",
)
