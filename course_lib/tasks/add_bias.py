"""A bias for each column, behind a guard that lets one column too many through."""

from typing import Any

from course_lib.registry.exercise import Task


def _with_bias(A: Any, bias: Any) -> Any:
    return A + bias


TASK = Task(
    id="add_bias",
    title="Bug 1: a bias for each column",
    lesson="05c",
    position=1,
    parameters=("A", "bias", "B"),
    output="B",
    block=(16, 16),
    shapes=("M,N", "N", "M,N"),
    reference=_with_bias,
    asks=("bounds",),
    formula="B[row, column] = A[row, column] + bias[column]",
    hints=(
        "The elements of a row of 20 have the column indices 0 to 19. What is the largest column "
        "index that passes the guard?",
        "`A[0, 20]` is not an element of row 0. In memory, which element of A comes right after "
        "the last element of row 0?",
    ),
    given='''\
@cuda.jit
def add_bias(A, bias, B):
    """B[row, column] = A[row, column] + bias[column]. Each block has 16 × 16 threads."""
    column, row = cuda.grid(2)
    if row < A.shape[0] and column <= A.shape[1]:
        B[row, column] = A[row, column] + bias[column]
''',
    answer='''\
@cuda.jit
def add_bias(A, bias, B):
    """B[row, column] = A[row, column] + bias[column]. Each block has 16 × 16 threads."""
    column, row = cuda.grid(2)
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, column] + bias[column]
''',
    par=1,
    meaning="Each row ends where the next one begins. So almost every write past the end of a row "
    "overwrote an element that belongs to another thread. Only the write past the end of the last "
    "row left the array.",
)
