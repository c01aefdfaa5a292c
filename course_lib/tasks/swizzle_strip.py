"""A transpose whose tile fills shared memory, so that only a swizzle can free it of conflicts."""

from course_lib.registry.exercise import Task, WrongIdea

NOT_FOUND = (
    "In which cell of the tile is A[1, 0] stored, and from which cell does the thread that needs "
    "it read?"
)


def _turned(A, column_read):
    """A turned over its diagonal, where another column is read than the one that is meant."""
    import numpy as np

    column, row = np.ogrid[:384, :32]
    return A[row, column_read(column, row)]


TASK = Task(
    id="swizzle_strip",
    title="Swizzle, where there is no room to pad",
    lesson="07",
    position=5,
    parameters=("A", "B"),
    output="B",
    grid=(1, 1),
    block=(32, 32),
    shapes=("32,384", "384,32"),
    reference=lambda A: A.T,
    asks=("coalesced", "shared-memory", "race-free", "conflict-free"),
    formula="B[row, column] = A[column, row]",
    wrong_ideas=(
        WrongIdea(
            lambda A: _turned(A, lambda column, row: column ^ row),
            "only one of the two accesses to the tile uses the XOR",
            NOT_FOUND,
        ),
        WrongIdea(
            lambda A: _turned(A, lambda column, row: column ^ column % 32 ^ row),
            "the store and the load use different numbers in the XOR, but both need the row of "
            "the tile",
            NOT_FOUND,
        ),
        WrongIdea(
            lambda A: _turned(A, lambda column, row: column ^ row ^ (row + 1)),
            "the store and the load use different numbers in the XOR, but both need the row of "
            "the tile",
            NOT_FOUND,
        ),
    ),
    hints=(
        "Suppose that row 0 of the tile keeps its order. How can you rearrange row 1 so that its "
        "first element is in another bank?",
        "When a warp reads down a column, each lane reads from a different row. So let the row "
        "decide where an element is stored.",
        "In row r, store column c at `c ^ r`. The thread that loads column c has to look there, "
        "too.",
    ),
    given='''\
@cuda.jit
def swizzle_strip(A, B):
    """B = A.T, where A is a strip of 32 × 384. The tile takes all 48 KiB that a static array may
    have."""
    tile = cuda.shared.array((32, 384), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for left in range(0, 384, 32):
        tile[y, left + x] = A[y, left + x]
    cuda.syncthreads()
    for top in range(0, 384, 32):
        B[top + y, x] = tile[x, top + y]
''',
    answer='''\
@cuda.jit
def swizzle_strip(A, B):
    """B = A.T, where A is a strip of 32 × 384. The tile takes all 48 KiB that a static array may
    have."""
    tile = cuda.shared.array((32, 384), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for left in range(0, 384, 32):
        tile[y, (left + x) ^ y] = A[y, left + x]
    cuda.syncthreads()
    for top in range(0, 384, 32):
        B[top + y, x] = tile[x, (top + y) ^ x]
''',
    another='''\
@cuda.jit
def swizzle_strip(A, B):
    """B = A.T, where A is a strip of 32 × 384. The tile takes all 48 KiB that a static array may
    have."""
    tile = cuda.shared.array((32, 384), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    for left in range(0, 384, 32):
        tile[y, left + (x + y) % 32] = A[y, left + x]
    cuda.syncthreads()
    for top in range(0, 384, 32):
        B[top + y, x] = tile[x, top + (y + x) % 32]
''',
    compared="A rotation by the row has the same effect as the XOR, without needing a power of "
    "two.",
    par=2,
    meaning="Moving elements by an XOR is called a **swizzle**. Unlike padding, a swizzle takes "
    "no space. On Hopper, the copy engine (TMA) can do it by itself; ordinary loads and stores "
    "need your XOR.",
)
