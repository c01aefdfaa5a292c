"""How many sectors one load of a warp touches: a plain function."""

from course_lib.exercise import Task, WrongIdea
from course_lib.kinds import FUNCTION

LANES, IN_A_SECTOR = 32, 8  # float32 numbers of 4 bytes, sectors of 32


def _sectors(stride: int, offset: int) -> int:
    return len({(offset + lane * stride) // IN_A_SECTOR for lane in range(LANES)})


TASK = Task(
    id="sectors",
    title="Count the sectors of one load",
    lesson="03",
    position=2,
    kind=FUNCTION,
    parameters=("stride", "offset"),
    reference=_sectors,
    arguments=tuple((stride, k) for stride in (1, 2, 3, 0, 4, 8, 9, 33) for k in (0, 1, 5, 8)),
    wrong_ideas=(
        WrongIdea(
            lambda stride, offset: len({lane * stride // IN_A_SECTOR for lane in range(LANES)}),
            "the offset is left out",
            "Where does lane 0 read if the offset is 5?",
        ),
        WrongIdea(
            lambda stride, offset: len({offset + lane * stride for lane in range(LANES)}),
            "these are different numbers, and eight of them share a sector",
            "In which sector does number 9 lie?",
        ),
        WrongIdea(
            lambda stride, offset: (
                (offset + (LANES - 1) * stride) // IN_A_SECTOR - offset // IN_A_SECTOR + 1
            ),
            "all sectors from the first to the last are counted, those between them as well",
            "Which sectors does no lane read from if the stride is 9?",
        ),
        WrongIdea(
            lambda stride, offset: len({(offset + k * stride) // 32 for k in range(LANES)}),
            "a sector is taken for 32 numbers; it has 32 bytes",
            "How many float32 numbers are 32 bytes?",
        ),
    ),
    hints=(
        "Lane 5 reads number offset + 5 * stride.",
        "A sector has 32 bytes, so eight numbers: number 9 lies in sector 1.",
        "Collect the sectors of all lanes in a set.",
    ),
    given='''\
def sectors(stride, offset):
    """How many sectors a warp touches whose lane k loads number offset + k * stride."""
    ...
''',
    answer='''\
def sectors(stride, offset):
    """How many sectors a warp touches whose lane k loads number offset + k * stride."""
    touched = set()
    for lane in range(32):
        touched.add((offset + lane * stride) // 8)
    return len(touched)
''',
    another='''\
def sectors(stride, offset):
    """How many sectors a warp touches whose lane k loads number offset + k * stride."""
    return len({(offset + lane * stride) // 8 for lane in range(32)})
''',
    par=4,
    meaning="You can now count what a load moves before anything runs: from 1 sector, if all "
    "lanes ask for one number, to 32, if no two lanes share one.",
)
