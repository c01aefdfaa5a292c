"""The matmul in which a thread computes a column of outputs."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_1d",
    title="A thread computes a column of outputs",
    lesson="08",
    parameters=("A", "B", "C"),
    block=(512,),
    tile=("BN", "BM"),
    thread_tile=(1, "TM"),
    constants={"BM": 64, "BN": 64, "BK": 8, "TM": 8},
    block_axes=(1, 2),
    points={
        "right": 3,
        "bounds": 1,
        "race-free": 2,
        "reuse": 1,
        "registers": 2,
        "float32": 1,
    },
    rung="register_1d",
    family="register product",
    sizes=((33, 67, 5), (70, 130, 20), (129, 60, 11), (1, 65, 17), (50, 1, 8)),
)
