"""The transpose of one tile, to be freed of its conflicts by a column that nobody uses."""

from course_lib.registry.exercise import Task

TASK = Task(
    id="pad_tile",
    title="One column more",
    lesson="07",
    position=4,
    parameters=("A", "B"),
    output="B",
    grid=(1, 1),
    block=(32, 32),
    shapes=("32,32", "32,32"),
    reference=lambda A: A.T,
    asks=("coalesced", "shared-memory", "race-free", "conflict-free"),
    formula="B[row, column] = A[column, row]",
    hints=(
        "How long must a row of the tile be, so that neighbouring elements of a column are in "
        "neighbouring banks?",
        "The second size of the shared array is the length of a row. You need not use all elements "
        "of a row.",
    ),
    given='''\
@cuda.jit
def pad_tile(A, B):
    """B = A.T, as before. The result is right, but the kernel is slow."""
    tile = cuda.shared.array((32, 32), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = A[y, x]
    cuda.syncthreads()
    B[y, x] = tile[x, y]
''',
    answer='''\
@cuda.jit
def pad_tile(A, B):
    """B = A.T, as before. The result is right, but the kernel is slow."""
    tile = cuda.shared.array((32, 33), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = A[y, x]
    cuda.syncthreads()
    B[y, x] = tile[x, y]
''',
    another='''\
@cuda.jit
def pad_tile(A, B):
    """B = A.T, as before. The result is right, but the kernel is slow."""
    tile = cuda.shared.array((32, 35), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    tile[y, x] = A[y, x]
    cuda.syncthreads()
    B[y, x] = tile[x, y]
''',
    compared="Any odd width above 32 works; 33 wastes the least memory.",
    par=1,
    meaning="The column that nobody uses is called **padding**. It makes the tile larger by 1/32.",
)
