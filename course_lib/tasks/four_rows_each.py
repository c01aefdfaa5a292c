"""A block that has fewer threads than its tile has elements."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="four_rows_each",
    title="Four elements for each thread",
    lesson="06",
    position=3,
    parameters=("A", "out"),
    output="out",
    block=(32, 8),
    tile=(32, 32),
    shapes=("M,N", "M,N"),
    reference=lambda a: 2 * a,
    asks=("bounds", "coalesced"),
    formula="out = 2 * A",
    hints=(
        "Thread (x, y) takes rows y, y + 8, y + 16 and y + 24 of its block's tile.",
        "The next tile begins 32 rows further down, although a block has only 8 rows of threads.",
        "So `cuda.grid(2)` returns the right column, but the wrong row. The row is "
        "`cuda.blockIdx.y * 32 + …`",
    ),
    given='''\
@cuda.jit
def four_rows_each(A, out):
    """out = 2 * A. Each block of 32 × 8 threads covers a tile of 32 × 32 elements."""
    ...
''',
    answer='''\
@cuda.jit
def four_rows_each(A, out):
    """out = 2 * A. Each block of 32 × 8 threads covers a tile of 32 × 32 elements."""
    column = cuda.grid(1)
    for i in range(4):
        row = cuda.blockIdx.y * 32 + cuda.threadIdx.y + 8 * i
        if row < A.shape[0] and column < A.shape[1]:
            out[row, column] = 2 * A[row, column]
''',
    another='''\
@cuda.jit
def four_rows_each(A, out):
    """out = 2 * A. Each block of 32 × 8 threads covers a tile of 32 × 32 elements."""
    column = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    top = cuda.blockIdx.y * 32
    for row in range(top + cuda.threadIdx.y, min(top + 32, A.shape[0]), 8):
        if column < A.shape[1]:
            out[row, column] = 2 * A[row, column]
''',
    compared="In this version, the loop runs over the rows themselves and stops where the matrix "
    "ends.",
    par=5,
    meaning="A block of 256 threads computed a tile of 1024 elements. So a tile may have more "
    "elements than its block has threads.",
)
