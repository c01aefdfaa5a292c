"""How many sectors one load of a warp touches: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

LANES, IN_A_SECTOR = 32, 8  # float32 numbers of 4 bytes, sectors of 32
WHICH_LANES = (
    "`range(a, b)` begins with a and ends before b. With which lanes does your range begin and end?"
)


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
    arguments=tuple((stride, k) for stride in (1, 2, 3, 0, 4, 8, 9, 33) for k in (0, 1, 5, 8, 2)),
    values=Values(
        gives="sectors",
        along="stride",
        at=(*range(13), 16, 32),
        rows={
            f"offset {offset}": lambda stride, offset=offset: (stride, offset)
            for offset in (0, 1, 4, 8)
        },
        shows="With a stride of 8 or more, every lane reads from a different sector.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda stride, offset: len({lane * stride // IN_A_SECTOR for lane in range(LANES)}),
            "your result does not depend on the offset",
            "Where does lane 0 read if the offset is 5?",
        ),
        WrongIdea(
            lambda stride, offset: len({offset + lane * stride for lane in range(LANES)}),
            "you count different numbers, but eight numbers share a sector",
            "In which sector is number 9?",
        ),
        WrongIdea(
            lambda stride, offset: (
                (offset + (LANES - 1) * stride) // IN_A_SECTOR - offset // IN_A_SECTOR + 1
            ),
            "you count all sectors from the first to the last, even those that no lane reads",
            "If the stride is 9, which sectors do the lanes skip?",
        ),
        WrongIdea(
            lambda stride, offset: len({(offset + k * stride) // 32 for k in range(LANES)}),
            "you assume that a sector has 32 numbers, but it has 32 bytes",
            "How many float32 numbers fit into 32 bytes?",
        ),
        WrongIdea(
            lambda stride, offset: len({(offset + k * stride) // 4 for k in range(LANES)}),
            "you assume that a sector has 4 numbers, but 4 is the number of bytes in a float32",
            "A sector has 32 bytes, and a float32 takes up 4. How many numbers fit into a sector?",
        ),
        WrongIdea(
            lambda stride, offset: len({(offset + k * stride) % 8 for k in range(LANES)}),
            "you count places within a sector, from 0 to 7, instead of sectors",
            "In which sector is number 9, and at which place in it?",
        ),
        WrongIdea(
            lambda stride, offset: len({4 * (offset + k * stride) // 8 for k in range(LANES)}),
            "you divide bytes by 8, but a sector has 8 numbers, or 32 bytes",
            "Does your formula count numbers or bytes, and how many of these are in one sector?",
        ),
        WrongIdea(
            lambda stride, offset: LANES,
            "you count one sector for every lane, even if two lanes share a sector",
            "Which lanes share a sector if the stride is 1? How often do you count a "
            "shared sector?",
        ),
        WrongIdea(
            lambda stride, offset: len({(offset + k) * stride // 8 for k in range(LANES)}),
            "you multiply the offset by the stride as well",
            "Where does lane 0 read if the offset is 1 and the stride is 2?",
        ),
        WrongIdea(
            lambda stride, offset: min(LANES, 4 * stride or 1),
            "your result does not depend on the offset",
            "If the stride and the offset are both 1, the lanes read numbers 1 to 32. Which "
            "sectors are these numbers in?",
        ),
        WrongIdea(
            lambda stride, offset: min(LANES, 4 * stride),
            "your result does not depend on the offset, and your formula is wrong for stride 0",
            "If the stride and the offset are both 1, the lanes read numbers 1 to 32. Which "
            "sectors are these numbers in?",
        ),
        WrongIdea(
            lambda stride, offset: min(LANES, 4 * stride + (offset % 8 > 0)) if stride else 1,
            "in your formula, every offset that is not a multiple of 8 adds one sector, but some "
            "of these offsets add none",
            "Take stride 2 and offset 1. In which sector does the last lane read? In which sector "
            "would it read without the offset?",
        ),
        WrongIdea(
            lambda stride, offset: (offset + LANES * stride) // IN_A_SECTOR,
            "you returned the index of one sector instead of the number of sectors that the lanes "
            "read",
            "Which sectors do lanes 0, 1 and 2 read from, and how many different sectors are "
            "these?",
        ),
        *(
            WrongIdea(
                lambda stride, offset, lanes=lanes: len(
                    {(offset + k * stride) // 8 for k in lanes}
                ),
                f"you count lanes {lanes[0]} to {lanes[-1]}, but a warp has lanes 0 to 31",
                WHICH_LANES,
            )
            for lanes in (range(31), range(1, 32), range(8), range(16), range(1, 33), range(33))
        ),
    ),
    hints=(
        "Lane 5 reads `x[offset + 5 * stride]`.",
        "A sector has 32 bytes, so it contains eight numbers: number 9 is in sector 1.",
        "Collect the sectors of all lanes in a set.",
    ),
    given='''\
def sectors(stride, offset):
    """Return how many sectors a warp touches, if its lane k loads number offset + k * stride."""
    ...
''',
    answer='''\
def sectors(stride, offset):
    """Return how many sectors a warp touches, if its lane k loads number offset + k * stride."""
    touched = set()
    for lane in range(32):
        touched.add((offset + lane * stride) // 8)
    return len(touched)
''',
    another='''\
def sectors(stride, offset):
    """Return how many sectors a warp touches, if its lane k loads number offset + k * stride."""
    return len({(offset + lane * stride) // 8 for lane in range(32)})
''',
    compared="A set comprehension collects and counts in one line.",
    par=4,
    meaning="You can now count the sectors of a load before anything runs: 1 sector if all lanes "
    "request the same number, and up to 32 if no two lanes share a sector.",
)
