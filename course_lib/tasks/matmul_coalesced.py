"""The naive matmul with the lanes of a warp side by side."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="matmul_coalesced",
    title="The lanes of a warp read side by side",
    lesson="03",
    position=4,
    parameters=("A", "B", "C"),
    block_axes=(2,),
    rung="coalesced",
    family="product",
    sizes=((33, 19, 37), (31, 33, 17), (17, 40, 5), (20, 23, 50), (1, 33, 31)),
    asks=("bounds", "coalesced", "float32"),
    hints=(
        "The grid has ⌈N / 16⌉ blocks in x. Does x count the columns of C or its rows?",
        "Take two lanes that differ by 1 in x. Which index of B, and which index of C, should "
        "then differ by 1?",
        "Use x for the column. Everything else is the same as in the kernel of lesson 02.",
    ),
    given='''\
@cuda.jit
def matmul_coalesced(A, B, C):
    """C = A @ B with coalesced accesses, by a grid of ⌈N / 16⌉ × ⌈M / 16⌉ blocks of 16 × 16."""
    ...
''',
    answer='''\
@cuda.jit
def matmul_coalesced(A, B, C):
    """C = A @ B with coalesced accesses, by a grid of ⌈N / 16⌉ × ⌈M / 16⌉ blocks of 16 × 16."""
    column, row = cuda.grid(2)
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, column]
        C[row, column] = total
''',
    another='''\
@cuda.jit
def matmul_coalesced(A, B, C):
    """C = A @ B with coalesced accesses, by a grid of ⌈N / 16⌉ × ⌈M / 16⌉ blocks of 16 × 16."""
    number = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * 16 + number // 16
    column = cuda.blockIdx.x * 16 + number % 16
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, column]
        C[row, column] = total
''',
    compared="This version numbers the threads as the hardware does: 16 consecutive threads share "
    "a row. The same lines work with any block of 256 threads.",
    par=6,
    meaning="Your kernel computes the same sums with the same requests, but it needs far fewer "
    "sectors. You have climbed a rung.",
    replaced_by="matmul_column_major",
    once_worth={"right": 3, "bounds": 2, "coalesced": 4, "float32": 1},
)
