"""A two-dimensional convolution through shared memory, with nothing given."""

from course_lib.registry.exercise import Task, WrongIdea


def weighted(a, w, before=2, mode="constant"):
    """The sum over 5 x 5 elements, of which `before` rows and columns lie before each element; past
    the edges there are zeros, or what np.pad puts there in another mode."""
    import numpy as np  # the registry is read without it, too

    rows, columns = a.shape
    padded = np.pad(a, (before, 4 - before), mode)
    return sum(w[i, j] * padded[i : i + rows, j : j + columns] for i in range(5) for j in range(5))


def one_neighbour(a, w):
    """The same if all weights met the first of the 5 x 5 elements."""
    import numpy as np

    return w.sum() * np.pad(a, ((2, 0), (2, 0)))[: len(a), : a.shape[1]]


TASK = Task(
    id="convolve",
    title="Weight each element's neighbourhood",
    lesson="05",
    position=7,
    parameters=("A", "W", "C"),
    block=(16, 16),
    shapes=("M,N", "5,5", "M,N"),
    reference=weighted,
    asks=("shared-memory", "race-free", "float32"),
    formula="C[r, c] = the sum of W[i, j] * A[r + i - 2, c + j - 2] over i and j",
    hints=(
        "Each thread needs the 5 × 5 elements around its own. How many rows and columns of A do "
        "the 256 threads of a block need in all?",
        "The block needs 20 × 20 elements. Each thread loads every 256th element, as in a "
        "grid-stride loop.",
        "Element n of the tile is in row n // 20 and column n % 20. After the barrier, each thread "
        "adds up 25 products.",
    ),
    given='''\
@cuda.jit
def convolve(A, W, C):
    """C[r, c] = the sum of W[i, j] * A[r + i - 2, c + j - 2] over all i and j from 0 to 4. In a
    block, x is the column."""
    ...
''',
    answer='''\
@cuda.jit
def convolve(A, W, C):
    """C[r, c] = the sum of W[i, j] * A[r + i - 2, c + j - 2] over all i and j from 0 to 4. In a
    block, x is the column."""
    tile = cuda.shared.array((20, 20), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    for n in range(16 * ty + tx, 400, 256):
        r, c = row - ty + n // 20 - 2, column - tx + n % 20 - 2
        inside = 0 <= r < A.shape[0] and 0 <= c < A.shape[1]
        tile[n // 20, n % 20] = A[r, c] if inside else float32(0)
    cuda.syncthreads()
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for i in range(5):
            for j in range(5):
                total += W[i, j] * tile[ty + i, tx + j]
        C[row, column] = total
''',
    another='''\
@cuda.jit
def convolve(A, W, C):
    """C[r, c] = the sum of W[i, j] * A[r + i - 2, c + j - 2] over all i and j from 0 to 4."""
    tile = cuda.shared.array((20, 20), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    for i in range(ty, 20, 16):
        for j in range(tx, 20, 16):
            r, c = row - ty + i - 2, column - tx + j - 2
            inside = 0 <= r < A.shape[0] and 0 <= c < A.shape[1]
            tile[i, j] = A[r, c] if inside else float32(0)
    cuda.syncthreads()
    if row < C.shape[0] and column < C.shape[1]:
        total = float32(0)
        for i in range(5):
            for j in range(5):
                total += W[i, j] * tile[ty + i, tx + j]
        C[row, column] = total
''',
    compared="In this version, a thread moves through the tile in steps of 16 rows and 16 columns, "
    "so no index has to be divided.",
    par=14,
    meaning="You worked out this whole kernel yourself. A block loads 400 elements of A. Without "
    "shared memory, it would load 6,400.",
    wrong_ideas=(
        WrongIdea(
            lambda a, w: weighted(a, w, before=0),
            "each neighbourhood begins at the element itself instead of two rows above it and two "
            "columns to its left",
            "Which element of A does your kernel store in the first cell of the tile?",
            place=("load", "A"),
        ),
        WrongIdea(
            one_neighbour,
            "each thread multiplies all 25 weights by the same element",
            "By which cell of the tile should a thread multiply `W[i, j]`?",
        ),
        WrongIdea(
            lambda a, w: weighted(a, w, mode="edge"),
            "past the edges of A, your kernel uses the nearest elements of A instead of zeros",
            "What should a cell of the tile hold if it lies outside A?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda a, w: weighted(a, w, mode="wrap"),
            "past the edges of A, your kernel uses elements from the opposite side of A instead "
            "of zeros",
            "What should a cell of the tile hold if it lies outside A?",
            place=("load", "A"),
        ),
        WrongIdea(
            lambda a, w: weighted(a, w[::-1, ::-1]),
            "your kernel applies W rotated by 180 degrees",
            "`W[0, 0]` belongs to the neighbour two rows above and two columns to the left.",
        ),
    ),
)
