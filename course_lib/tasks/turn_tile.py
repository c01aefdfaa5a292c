"""A matrix of 32 × 32 is turned in shared memory, so that global memory sees rows alone."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="turn_tile",
    title="Turn a tile in shared memory",
    lesson="07",
    parameters=("A", "B"),
    output="B",
    grid=(1, 1),
    block=(32, 32),
    shapes=("32,32", "32,32"),
    reference=lambda A: A.T,
    asks=("coalesced", "shared-memory", "race-free"),
    formula="B[row, column] = A[column, row]",
    hints=(
        "Each thread loads one element of A and stores one element of B, but it does not store "
        "the element that it loaded.",
        "threadIdx.x has to choose the column in the load and in the store, so the transposition "
        "must happen between the two.",
        "Fill `tile[y, x]`, wait for all threads, and read `tile[x, y]`.",
    ),
    given='''\
@cuda.jit
def turn_tile(A, B):
    """B = A.T. One block of 32 × 32 threads reads rows of A and writes rows of B."""
    ...
''',
    answer='''\
@cuda.jit
def turn_tile(A, B):
    """B = A.T. One block of 32 × 32 threads reads rows of A and writes rows of B."""
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = A[y, x]
    cuda.syncthreads()
    B[y, x] = tile[x, y]
''',
    another='''\
@cuda.jit
def turn_tile(A, B):
    """B = A.T. One block of 32 × 32 threads reads rows of A and writes rows of B."""
    tile = cuda.shared.array((32, 32), float32)
    column, row = cuda.grid(2)
    tile[column, row] = A[row, column]
    cuda.syncthreads()
    B[row, column] = tile[row, column]
''',
    compared="This version transposes the tile when it writes to shared memory, not when it "
    "reads from it.",
    par=5,
    meaning="Loads and stores of global memory now run along rows, so each request takes 4 "
    "sectors.",
)
