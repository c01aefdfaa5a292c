"""The matmul by tiles in shared memory."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_tiled",
    title="Stage tiles in shared memory",
    lesson="05",
    parameters=("A", "B", "C"),
    block=("TILE", "TILE"),
    tile=("TILE", "TILE"),
    constants={"TILE": 16},
    block_axes=(2,),
    points={
        "right": 3,
        "bounds": 1,
        "shared-memory": 1,
        "race-free": 2,
        "reuse": 2,
        "float32": 1,
    },
    rung="tiled",
    family="product",
    sizes=((33, 19, 37), (31, 33, 17), (17, 40, 5), (20, 23, 50), (1, 33, 31)),
)
