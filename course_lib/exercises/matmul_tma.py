"""The matmul by a copy engine, a producer, and a warpgroup that does nothing but multiply."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_tma",
    title="A producer, a ring of stages, and consumers",
    lesson="10b",
    parameters=("A", "B", "K", "C"),
    dtypes={"A": "bfloat16", "B": "bfloat16"},
    boxes={"A": (64, 64), "B": (64, 64)},
    block=(160,),
    tile=(64, 64),
    constants={"BK": 64},
    points={
        "right": 3,
        "bounds": 1,
        "race-free": 3,
        "reuse": 1,
        "tensor": 1,
        "float32": 1,
    },
    rung="tma",
    family="product of boxes",
    sizes=((33, 67, 70), (70, 65, 140), (1, 65, 300), (129, 60, 40), (50, 1, 8)),
)
