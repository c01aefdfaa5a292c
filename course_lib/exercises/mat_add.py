"""C = A + B, element by element: the first kernel."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="mat_add",
    title="Add two matrices",
    lesson="00",
    parameters=("A", "B", "C"),
    block_axes=(2,),
    points={"right": 4, "bounds": 2, "coalesced": 2, "float32": 2},
    most_elements=1,
    family="sum",
    sizes=((33, 19, 0), (31, 40, 0), (1, 33, 0), (33, 1, 0)),
)
