"""Attention in one kernel, with an online softmax over tiles of keys."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="attention",
    title="Attention, tile by tile",
    lesson="11",
    parameters=("Q", "K", "V", "O"),
    output="O",
    block=(32, 16),
    tile=(16,),
    block_axes=(2,),
    points={
        "right": 4,
        "bounds": 1,
        "shared-memory": 1,
        "race-free": 2,
        "reuse": 1,
        "float32": 1,
    },
    family="attention",
    sizes=((9, 33, 1), (7, 20, 1), (5, 1, 60_000), (20, 40, 60), (19, 70, 1)),
)
