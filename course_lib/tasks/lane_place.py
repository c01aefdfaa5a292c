"""Where in its warp's 8 x 4 places a lane stands, so that pairs of lanes share: device function."""

from course_lib.registry.exercise import Task, WrongIdea


def _map(row, column):
    """The lanes by their place, where the lane's place is given by two functions."""
    places = [[-1] * 4 for _ in range(8)]
    for lane in range(32):
        places[row(lane)][column(lane)] = lane
    return places


TASK = Task(
    id="lane_place",
    title="Lanes in a zigzag",
    lesson="09",
    position=4,
    parameters=("out",),
    output="out",
    grid=(1,),
    block=(32,),
    shapes=("8,4",),
    reference=lambda: _map(
        lambda lane: lane // 2 % 2 + lane // 8 * 2, lambda lane: lane % 2 + lane // 4 % 2 * 2
    ),
    before=-1,
    formula="out[row, column] = the lane at that place",
    wrong_ideas=(
        WrongIdea(
            lambda: _map(lambda lane: lane // 4, lambda lane: lane % 4),
            "the lanes go row by row, so lane 2 is to the right of lane 1 instead of below lane 0",
            "Which four lanes should form the first square of 2 × 2?",
        ),
        WrongIdea(
            lambda: _map(
                lambda lane: lane % 2 + lane // 8 * 2,
                lambda lane: lane // 2 % 2 + lane // 4 % 2 * 2,
            ),
            "in each square, lane 1 is below lane 0, and lane 2 is to the right of lane 0",
            "Which lane should be in the same row as lane 0: lane 1 or lane 2?",
        ),
    ),
    hints=(
        "Every four lanes form a square of 2 × 2. Which square does a lane belong to, and where in "
        "this square is the lane?",
        "A lane belongs to square number `lane // 4`. The squares form four rows of two.",
        "Within a square, the column is `lane % 2` and the row is `lane // 2 % 2`.",
    ),
    given='''\
@cuda.jit(device=True)
def lane_place(lane):
    """Return the row (0 to 7) and the column (0 to 3) of a lane's place in its warp."""
    row, column = ..., ...
    return row, column
''',
    answer='''\
@cuda.jit(device=True)
def lane_place(lane):
    """Return the row (0 to 7) and the column (0 to 3) of a lane's place in its warp."""
    row = lane // 8 * 2 + lane // 2 % 2
    column = lane // 4 % 2 * 2 + lane % 2
    return row, column
''',
    caller='''\
@cuda.jit
def caller(out):
    """Each lane of a warp writes its number at its place."""
    lane = cuda.threadIdx.x
    row, column = lane_place(lane)
    out[row, column] = lane
''',
    another='''\
@cuda.jit(device=True)
def lane_place(lane):
    """Return the row (0 to 7) and the column (0 to 3) of a lane's place in its warp."""
    row = (lane >> 1 & 1) + (lane >> 3 << 1)
    column = (lane & 1) + (lane >> 1 & 2)
    return row, column
''',
    compared="This version deals out the five bits of a lane's number: two of them give the "
    "column, and three give the row.",
    par=2,
    meaning="Lanes 0 and 1 share a row, lanes 0 and 2 share a column, and so on through the warp.",
)
