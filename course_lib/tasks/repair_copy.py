"""A copy that is right and slow, because its lanes walk down a column: to be repaired."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="repair_copy",
    title="Repair a slow copy",
    lesson="03",
    position=3,
    parameters=("A", "B"),
    output="B",
    block=(16, 16),
    shapes=("M,N", "M,N"),
    reference=lambda A: A,
    asks=("bounds", "coalesced"),
    formula="B[row, column] = A[row, column]",
    hints=(
        "Take two lanes that differ by 1 in `threadIdx.x`. Are the elements of A that these two "
        "lanes read side by side?",
        "In a row-major matrix, `A[r, c]` and `A[r, c + 1]` are neighbours. So which index should "
        "grow with `threadIdx.x`?",
        "`threadIdx.x` should belong to the column, and `threadIdx.y` to the row. The terms with "
        "`blockIdx` are already right.",
    ),
    given='''\
@cuda.jit
def repair_copy(A, B):
    """B = A, in blocks of 16 × 16. The result is right, but the kernel is slow."""
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.x
    column = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, column]
''',
    answer='''\
@cuda.jit
def repair_copy(A, B):
    """B = A, in blocks of 16 × 16. The result is right, but the kernel is slow."""
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.y
    column = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, column]
''',
    another='''\
@cuda.jit
def repair_copy(A, B):
    """B = A, in blocks of 16 × 16. The result is right, but the kernel is slow."""
    column, row = cuda.grid(2)
    if row < A.shape[0] and column < A.shape[1]:
        B[row, column] = A[row, column]
''',
    compared="`cuda.grid(2)` returns the index in x first, which is the index that grows from lane "
    "to lane.",
    par=2,
    meaning="Every thread still copies one element. Only *which* thread copies *which* element "
    "has changed, so that a warp now requests whole sectors.",
)
