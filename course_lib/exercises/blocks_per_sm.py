"""How many blocks an SM holds, as a plain function."""

from course_lib.registry.exercise import Exercise
from course_lib.registry.kinds import FUNCTION

EXERCISE = Exercise(
    id="blocks_per_sm",
    title="How many blocks fit on an SM",
    lesson="06",
    parameters=("device", "threads", "registers", "shared_bytes"),
    points={"right": 8, "refusals": 2},
    kind=FUNCTION,
    family="blocks per SM",
)
