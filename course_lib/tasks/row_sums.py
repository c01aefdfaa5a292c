"""Sums of rows through a padded tile: what lessons 03, 05 and 07 taught, unaided."""

from course_lib.registry.exercise import Task, WrongIdea

TASK = Task(
    id="row_sums",
    title="A sum for each row",
    lesson="09",
    position=1,
    parameters=("A", "y"),
    output="y",
    grid=(1,),
    block=(32,),
    shapes=("32,32", "32"),
    reference=lambda A: A.sum(axis=1),
    asks=("coalesced", "shared-memory", "race-free", "conflict-free", "float32"),
    formula="y[row] = the sum of A[row, k] over k",
    wrong_ideas=(
        WrongIdea(
            lambda A: A.sum(axis=0),
            "each lane adds up a column instead of a row",
            "Which index of the tile stays the same while a lane adds up its row?",
            place=("sum",),
        ),
        WrongIdea(
            lambda A: 32 * A.diagonal(),
            "each lane adds the same number of its row 32 times",
            "Which index of the tile has to change while a lane adds up its row?",
            place=("sum",),
        ),
        WrongIdea(
            lambda A: A[:, -1],
            "only the last number of the row is left in each sum",
            "`=` replaces the old sum. Which operator adds a term to the sum?",
        ),
    ),
    hints=(
        "In each step, the warp should read one whole row of A. Which row should each lane add up?",
        "So the lanes exchange numbers through a tile in shared memory. They fill the tile row by "
        "row, and in each step of the sum they read down one of its columns.",
        "With rows of 32 words, all lanes that read down a column use the same bank. How long "
        "should a row of the tile be?",
    ),
    given='''\
@cuda.jit
def row_sums(A, y):
    """y[row] = the sum of that row of A, which is 32 x 32. A single warp is launched, and each lane
    adds up one row."""
    ...
''',
    answer='''\
@cuda.jit
def row_sums(A, y):
    """y[row] = the sum of that row of A, which is 32 x 32. A single warp is launched, and each lane
    adds up one row."""
    tile = cuda.shared.array((32, 33), float32)
    lane = cuda.threadIdx.x
    for row in range(32):
        tile[row, lane] = A[row, lane]
    cuda.syncthreads()
    total = float32(0)
    for k in range(32):
        total += tile[lane, k]
    y[lane] = total
''',
    another='''\
@cuda.jit
def row_sums(A, y):
    """y[row] = the sum of that row of A, which is 32 x 32. A single warp is launched, and each lane
    adds up one row."""
    tile = cuda.shared.array((32, 32), float32)
    lane = cuda.threadIdx.x
    for row in range(32):
        tile[row, lane] = A[row, lane]
    cuda.syncthreads()
    total = float32(0)
    for k in range(32):
        total += tile[lane, (lane + k) % 32]
    y[lane] = total
''',
    compared="This version has no padding: each lane begins its row in a different column, so no "
    "two lanes conflict.",
    par=9,
    meaning="Your loads use whole sectors of global memory, and each access to the tile takes "
    "one wavefront.",
)
