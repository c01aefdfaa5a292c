"""Five constants: a tile that fits an H100 and reuses enough."""

from course_lib.registry.exercise import Exercise
from course_lib.registry.kinds import CONSTANTS

EXERCISE = Exercise(
    id="pick_a_tile",
    title="Choose a tile for an H100",
    lesson="06",
    position=2,
    parameters=("BM", "BN", "BK", "TM", "TN"),
    points={"right": 4, "resident": 3, "intensity": 3},
    kind=CONSTANTS,
    family="tile choice",
)
