"""The naive matmul: every thread computes one output."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_naive",
    title="One thread, one output",
    lesson="02",
    parameters=("A", "B", "C"),
    block_axes=(2,),
    points={"right": 5, "bounds": 3, "float32": 2},
    most_elements=1,
    family="product",
    sizes=((33, 19, 37), (31, 33, 17), (17, 40, 5), (20, 23, 50), (1, 33, 31)),
)
