"""The product of matrices that share one tile along K: load twice, wait, multiply."""

from course_lib.registry.exercise import Task, WrongIdea


def rows_twice_as_far(m):
    """What a block of rows holds if the tile begins at the thread's own row, which then counts
    twice; zeros where there is no such row."""
    import numpy as np  # the registry is read without it, too

    row = np.arange(len(m))
    return np.pad(m, ((0, len(m)), (0, 0)))[np.minimum(row + row % 16, 2 * len(m) - 1)]


def first_sixteen_rows(m):
    """The first 16 rows, and zeros below them."""
    first = m.copy()
    first[16:] = 0
    return first


def each_tile_turned(m):
    """A matrix of 16 rows whose tiles of 16 columns are each transposed."""
    import numpy as np

    columns = m.shape[1]
    tiles = np.pad(m, ((0, 0), (0, -columns % 16))).reshape(16, -1, 16)
    return tiles.transpose(2, 1, 0).reshape(16, -1)[:, :columns]


def first_tile_of(a, columns):
    """What is left of a second tile that is loaded from A: its first 16 columns."""
    import numpy as np

    tile = np.pad(a[:16], ((0, max(0, 16 - len(a))), (0, max(0, columns - 16))))
    return tile[:, :columns]


TASK = Task(
    id="one_tile_product",
    title="Multiply one tile by another",
    lesson="05",
    position=6,
    parameters=("A", "B", "C"),
    block=(16, 16),
    shapes=("M,16", "16,N", "M,N"),
    family="product",
    sizes=((33, 19, 16), (31, 33, 16), (1, 33, 16), (16, 16, 16), (40, 5, 16)),
    asks=("shared-memory", "race-free", "reuse", "float32"),
    uses=("load_tile",),
    formula="C = A @ B",
    hints=(
        "Which rows of A and which columns of B does a block need? At which element of A and at "
        "which element of B do its two tiles begin?",
        "The tile of A begins at `A[first_row, 0]`, and the tile of B begins at `B[0, "
        "first_column]`.",
        "Load the two tiles, wait at a barrier, and add up 16 products. Only the store needs a "
        "guard, because `load_tile` guards the loads.",
    ),
    given='''\
@cuda.jit
def one_tile_product(A, B, C):
    """C = A @ B, where A has 16 columns and B has 16 rows. In a block of 16 × 16, x is the
    column."""
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    ...
''',
    answer='''\
@cuda.jit
def one_tile_product(A, B, C):
    """C = A @ B, where A has 16 columns and B has 16 rows. In a block of 16 × 16, x is the
    column."""
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    load_tile(sA, A, row - ty, 0)
    load_tile(sB, B, 0, column - tx)
    cuda.syncthreads()
    total = float32(0)
    for k in range(16):
        total += sA[ty, k] * sB[k, tx]
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = total
''',
    another='''\
@cuda.jit
def one_tile_product(A, B, C):
    """C = A @ B, where A has 16 columns and B has 16 rows. In a block of 16 × 16, x is the
    column."""
    sA = cuda.shared.array((16, 16), float32)
    sB = cuda.shared.array((16, 16), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    sA[ty, tx] = A[row, tx] if row < A.shape[0] else float32(0)
    sB[ty, tx] = B[ty, column] if column < B.shape[1] else float32(0)
    cuda.syncthreads()
    total = float32(0)
    for k in range(16):
        total += sA[ty, k] * sB[k, tx]
    if row < C.shape[0] and column < C.shape[1]:
        C[row, column] = total
''',
    compared="This version writes out the loads. Each load needs only one bounds check, since K is "
    "16.",
    par=10,
    meaning="Each thread loaded 2 numbers and used 32, because all threads of a block share the "
    "two tiles. For any K, you only have to continue with the next pair of tiles.",
    wrong_ideas=(
        WrongIdea(
            lambda a, b: a @ each_tile_turned(b),
            "your kernel swaps row and column when it reads the tile of B",
            "k runs down a column of B, so k is a row of the tile. Is the row the first or the "
            "second index of `sB`?",
            place=("sum",),
        ),
        WrongIdea(
            lambda a, b: each_tile_turned(a.T).T @ b,
            "your kernel swaps row and column when it reads the tile of A",
            "k runs along a row of A, so k is a column of the tile. Is the column the first or the "
            "second index of `sA`?",
            place=("sum",),
        ),
        WrongIdea(
            lambda a, b: a @ first_tile_of(a, b.shape[1]),
            "your kernel loads both tiles from A and none from B",
            "From which matrix does your kernel load the second tile?",
            place=("load", "A", "last"),
        ),
        WrongIdea(
            lambda a, b: first_sixteen_rows(a) @ b,
            "in every block below the first 16 rows, the tile of A begins to the right of A and "
            "holds only zeros",
            "`load_tile` takes the first row of the tile and then its first column. Which row and "
            "which column does your kernel pass?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda a, b: a @ first_sixteen_rows(b.T).T,
            "in every block to the right of the first 16 columns, the tile of B begins below B "
            "and holds only zeros",
            "`load_tile` takes the first row of the tile and then its first column. Which row and "
            "which column does your kernel pass?",
            place=("load", "B"),
        ),
        WrongIdea(
            lambda a, b: rows_twice_as_far(a) @ rows_twice_as_far(b.T).T,
            "your kernel adds `threadIdx.y` twice to the row of A and `threadIdx.x` twice to the "
            "column of B",
            "`load_tile` already adds `threadIdx`. Which row and column does it need for the start "
            "of the tile?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda a, b: rows_twice_as_far(a) @ b,
            "your kernel adds `threadIdx.y` twice to the row of A",
            "`load_tile` already adds `threadIdx.y`. In which row of A does the block's "
            "tile begin?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda a, b: a @ rows_twice_as_far(b.T).T,
            "your kernel adds `threadIdx.x` twice to the column of B",
            "`load_tile` already adds `threadIdx.x`. In which column of B does the block's tile "
            "begin?",
            place=("load", "B"),
        ),
    ),
)
