"""Which thread stages which element: a tile that has not the shape of the block."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="stage_tile",
    title="Who stages what?",
    lesson="04",
    position=3,
    parameters=("A", "tile"),
    output="tile",
    grid=(1, 1),
    block=(16, 8),
    shapes=("16,24", "16,8"),
    reference=lambda A: A[:, 8:16],
    asks=("bounds", "coalesced", "race-free"),
    wrong_ideas=(
        WrongIdea(
            lambda A: A[:, :8],
            "the tile holds columns 0 to 7 of A",
            "Which column of A belongs to column 0 of this tile?",
        ),
        WrongIdea(
            lambda A: A[:, 16:],
            "the tile holds the last columns of A",
            "Which column of A belongs to column 0 of this tile?",
        ),
    ),
    formula="tile[row, column] = A[row, 8 + column]",
    hints=(
        "Number the threads from 0 to 127, along x first, as the hardware does.",
        "Threads 0 to 7 take row 0 of the tile. Which row and column does thread 10 take? Think "
        "of `//` and `%`.",
    ),
    given='''\
@cuda.jit
def stage_tile(A, tile):
    """tile[row, column] = A[row, 8 + column]. Each of the 16 × 8 threads stages one element."""
    ...
''',
    answer='''\
@cuda.jit
def stage_tile(A, tile):
    """tile[row, column] = A[row, 8 + column]. Each of the 16 × 8 threads stages one element."""
    number = cuda.threadIdx.y * 16 + cuda.threadIdx.x
    row, column = number // 8, number % 8
    tile[row, column] = A[row, 8 + column]
''',
    another='''\
@cuda.jit
def stage_tile(A, tile):
    """tile[row, column] = A[row, 8 + column]. Each of the 16 × 8 threads stages one element."""
    column = cuda.threadIdx.x % 8
    row = 2 * cuda.threadIdx.y + cuda.threadIdx.x // 8
    tile[row, column] = A[row, 8 + column]
''',
    compared="In this version, half a row of 16 threads stages one row of the tile.",
    par=3,
    meaning="First number the threads, then divide the elements among them. In this way, a block "
    "of any shape can stage a tile of any shape, in whole sectors.",
)
