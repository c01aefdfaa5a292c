"""Load one element of a tile, or zero where the matrix has none: a device function."""

from course_lib.registry.exercise import Task, WrongIdea


def with_zeros(m):
    """The matrix and zeros to its right and below, so that tiles of 2 x 4 cover it."""
    import numpy as np  # the registry is read without it, too

    return np.pad(m, ((0, 8 - m.shape[0]), (0, 8 - m.shape[1])))


def first_tile_everywhere(m):
    """The same if each tile held what belongs into the first one."""
    import numpy as np

    rows, columns = m.shape
    return with_zeros(np.tile(m[:2, :4], (4, 2))[:rows, :columns])


def corners_exchanged(m):
    """The same if each tile began at M[left, top]."""
    import numpy as np

    result, padded = np.zeros((8, 8)), np.pad(with_zeros(m), ((0, 0), (0, 2)))
    for top in range(0, 8, 2):
        for left in range(0, 8, 4):
            result[top : top + 2, left : left + 4] = padded[left : left + 2, top : top + 4]
    return result


TASK = Task(
    id="load_tile",
    title="Load a tile that may stick out",
    lesson="05",
    position=5,
    parameters=("M", "out"),
    output="out",
    grid=(4, 2),
    block=(4, 2),  # not square: whoever takes x for the row leaves the tile
    shapes=("6,5", "8,8"),
    other_sizes=({"6": 7}, {"5": 6}),
    reference=with_zeros,
    before=-1,
    asks=("shared-memory",),
    formula="out[row, column] = M[row, column], and 0 past the edge",
    hints=(
        "A thread fills the cell `tile[ty, tx]`. Which element of M belongs there?",
        "The element is `M[top + ty, left + tx]`. For which values of `ty` and `tx` does M have no "
        "such element?",
        "Write an `if` for the element and an `else` for the zero, so that every cell is filled.",
    ),
    given='''\
@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    """Fill this thread's cell of the tile whose first element is M[top, left]. Past the edges of M,
    the cell gets 0. A tile is as large as a block, and x is the column."""
    ...
''',
    answer='''\
@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    """Fill this thread's cell of the tile whose first element is M[top, left]. Past the edges of M,
    the cell gets 0. A tile is as large as a block, and x is the column."""
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    if top + ty < M.shape[0] and left + tx < M.shape[1]:
        tile[ty, tx] = M[top + ty, left + tx]
    else:
        tile[ty, tx] = 0
''',
    caller='''\
@cuda.jit
def caller(M, out):
    """blockIdx.x counts tiles downwards, so a thread's place in the grid is not that of its
    element."""
    tile = cuda.shared.array((2, 4), float32)
    top, left = 2 * cuda.blockIdx.x, 4 * cuda.blockIdx.y
    load_tile(tile, M, top, left)
    cuda.syncthreads()
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    out[top + ty, left + tx] = tile[ty, tx]
''',
    another='''\
@cuda.jit(device=True)
def load_tile(tile, M, top, left):
    """Fill this thread's cell of the tile whose first element is M[top, left]. Past the edges of M,
    the cell gets 0."""
    row, column = top + cuda.threadIdx.y, left + cuda.threadIdx.x
    inside = row < M.shape[0] and column < M.shape[1]
    tile[cuda.threadIdx.y, cuda.threadIdx.x] = M[row, column] if inside else float32(0)
''',
    compared="This version selects the value first and needs only one store.",
    par=5,
    meaning="Any kernel that needs a tile can now call this function, whatever the sizes of the "
    "matrices. The function guards the load, but the caller has to add the barrier. (In the "
    "picture, blockIdx.x counts tiles downwards.)",
    wrong_ideas=(
        WrongIdea(
            first_tile_everywhere,
            "every tile holds the first elements of M",
            "At which row and column of M should this tile begin?",
        ),
        WrongIdea(
            corners_exchanged,
            "each tile begins at M[left, top]",
            "`top` is a row of M, and `left` is a column. Which of them does your kernel use in "
            "the first index of M?",
            place=("load", "M"),
        ),
    ),
)
