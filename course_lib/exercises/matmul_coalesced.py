"""The naive matmul with the lanes of a warp side by side."""

from course_lib.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_coalesced",
    title="A warp reads side by side",
    lesson="03",
    parameters=("A", "B", "C"),
    block_axes=(2,),
    points={"right": 3, "bounds": 2, "coalesced": 4, "float32": 1},
    rung="coalesced",
    family="product",
    sizes=((33, 19, 37), (31, 33, 17), (17, 40, 5), (20, 23, 50), (1, 33, 31)),
)
