"""Mirror a matrix left to right: lesson 03 once more, unaided."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="mirror_rows",
    title="Mirror a matrix from left to right",
    lesson="05",
    parameters=("A", "B"),
    output="B",
    block=(16, 16),
    shapes=("M,N", "M,N"),
    reference=lambda a: a[:, ::-1],
    asks=("coalesced",),
    formula="B[row, column] = A[row, N - 1 - column]",
    hints=(
        "`cuda.grid(2)` returns x first. Which index has to grow with x, so that neighbouring "
        "lanes access neighbouring elements?",
        "The last column of A has the index `A.shape[1] - 1`. Count backwards from this index.",
    ),
    given='''\
@cuda.jit
def mirror_rows(A, B):
    """B = A mirrored from left to right, with coalesced accesses. Each block has 16 × 16
    threads."""
    ...
''',
    answer='''\
@cuda.jit
def mirror_rows(A, B):
    """B = A mirrored from left to right, with coalesced accesses. Each block has 16 × 16
    threads."""
    column, row = cuda.grid(2)
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, A.shape[1] - 1 - column]
''',
    another='''\
@cuda.jit
def mirror_rows(A, B):
    """B = A mirrored from left to right, with coalesced accesses. Each block has 16 × 16
    threads."""
    column, row = cuda.grid(2)
    if row < A.shape[0] and column < A.shape[1]:
        B[row, A.shape[1] - 1 - column] = A[row, column]
''',
    compared="This version loads forwards and stores backwards. It touches the same sectors.",
    par=3,
    meaning="The lanes read from right to left and still share their sectors, because the "
    "order of the lanes within a request does not matter.",
    wrong_ideas=(
        WrongIdea(
            lambda a: a[::-1],
            "your kernel mirrors the matrix from top to bottom",
            "Which of the two indices changes if you move from left to right?",
        ),
    ),
)
