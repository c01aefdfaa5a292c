"""The matmul in squares whose numbers travel four at a time."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_wide",
    title="One instruction moves 16 bytes",
    lesson="09",
    parameters=("A", "B", "C"),
    block=(256,),
    tile=("BN", "BM"),
    thread_tile=("TN", "TM"),
    constants={"BM": 64, "BN": 64, "BK": 8, "TM": 4, "TN": 4},
    block_axes=(1, 2),
    multiples={"N": 4, "K": 4},
    wide=("A", "B", "C"),
    points={"right": 3, "bounds": 1, "race-free": 1, "reuse": 1, "wide": 3, "float32": 1},
    starts_from="matmul_2d",
    rung="vectorised",
    family="register product",
    sizes=((33, 68, 4), (70, 132, 20), (129, 60, 12), (1, 64, 16), (50, 4, 8)),
)
