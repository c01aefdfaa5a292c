"""Running sums within each block."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="block_scan",
    title="Running sums within a block",
    lesson="07",
    position=2,
    parameters=("x", "y"),
    output="y",
    block=(64,),
    tile=(64,),
    block_axes=(1,),
    points={"right": 4, "bounds": 1, "race-free": 3, "reuse": 1, "float32": 1},
    family="scan",
    sizes=((100,), (63,), (65,), (190,)),
)
