"""A transpose that reads and writes neighbours, through a tile in shared memory."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="transpose_tiled",
    title="Transpose with coalesced loads and stores",
    lesson="07",
    parameters=("A", "B"),
    output="B",
    block=("TILE", "TILE"),
    tile=("TILE", "TILE"),
    constants={"TILE": 32},
    block_axes=(1, 2),
    points={
        "right": 3,
        "bounds": 1,
        "coalesced": 2,
        "conflict-free": 2,
        "race-free": 1,
        "float32": 1,
    },
    family="transpose",
    sizes=((33, 70, 0), (65, 40, 0), (1, 33, 0), (40, 1, 0)),
)
