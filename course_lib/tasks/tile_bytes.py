"""The shared memory that a block's two tiles take: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="tile_bytes",
    title="What two tiles take",
    lesson="06",
    position=2,
    kind=FUNCTION,
    parameters=("BM", "BN", "BK"),
    reference=lambda BM, BN, BK: 4 * BK * (BM + BN),
    arguments=(
        (32, 32, 32),
        (16, 16, 16),
        (64, 64, 64),
        (128, 128, 8),
        (128, 64, 16),
        (64, 128, 8),
        (1, 2, 3),
    ),
    values=Values(
        gives="shared memory",
        along="BK",
        at=(4, 8, 16, 32, 64, 128),
        rows={
            f"{edge} × {edge} outputs": lambda depth, edge=edge: (edge, edge, depth)
            for edge in (16, 32, 64, 128)
        },
        shows="A kernel may declare at most 48 KiB of shared memory. Which of these tiles fit?",
        unit="KiB",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda BM, BN, BK: BK * (BM + BN),
            "you counted numbers instead of bytes",
            "How many bytes does a float32 take up?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 8 * BK * (BM + BN),
            "you count 8 bytes for each number, but a float32 takes up 4",
            "How many bytes does a float32 take up?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 4 * BM * BK,
            "you left out the tile of B",
            "Which two tiles does a block stage?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 4 * BK * BN,
            "you left out the tile of A",
            "Which two tiles does a block stage?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 8 * BM * BK,
            "you count both tiles as if each had the size of the tile of A",
            "The tile of B has BK rows. How many columns does the tile of B have?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 4 * BM * BN,
            "you computed the size of the tile of C, but its sums stay in registers",
            "Which two tiles are in shared memory?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 8 * BM * BN,
            "your formula is right only if BM, BN and BK are equal",
            "How many rows and columns does the tile of A have, and how many does the tile of B "
            "have?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 4 * (BM * BK + BK * BN + BM * BN),
            "you also count the tile of C, but its sums stay in registers",
            "Which two tiles are in shared memory?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 4 * BM * BN * BK,
            "you multiply all three edges, but the sizes of the two tiles are added",
            "How many numbers does the tile of A alone have?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 4 * (BM + BN + BK),
            "you add up edges, but the size of a tile is the product of its edges",
            "How many numbers does the tile of A alone have?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 4 * (BM + BK + BK + BN),
            "you add up edges, but the size of a tile is the product of its edges",
            "How many numbers does the tile of A alone have?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 4 * BM * BK + BK * BN,
            "you converted only the tile of A to bytes",
            "Where does your formula need parentheses?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 4 * BK * (BM + BN) / 1024,
            "you returned the size in KiB, but the task asks for another unit",
            "Which unit does the task ask for?",
        ),
    ),
    hints=(
        "How many numbers are in a BM × BK tile, and how many are in a BK × BN tile?",
        "A float32 has 4 bytes.",
    ),
    given='''\
def tile_bytes(BM, BN, BK):
    """Return how many bytes a BM × BK tile of A and a BK × BN tile of B take up in float32."""
    ...
''',
    answer='''\
def tile_bytes(BM, BN, BK):
    """Return how many bytes a BM × BK tile of A and a BK × BN tile of B take up in float32."""
    return 4 * (BM * BK + BK * BN)
''',
    another='''\
def tile_bytes(BM, BN, BK):
    """Return how many bytes a BM × BK tile of A and a BK × BN tile of B take up in float32."""
    return 4 * BK * (BM + BN)
''',
    compared="Both tiles have the edge BK, so this version multiplies BK by the sum of the two "
    "other edges.",
    par=1,
    meaning="Every block on an SM needs this much shared memory for itself.",
)
