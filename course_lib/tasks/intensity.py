"""FLOP per requested byte of a tile, in which its step along K does not appear."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="intensity",
    title="FLOP per requested byte of a tile",
    lesson="06",
    position=4,
    kind=FUNCTION,
    parameters=("BM", "BN", "BK"),
    reference=lambda BM, BN, BK: BM * BN / (2 * (BM + BN)),
    arguments=(
        (32, 32, 32),
        (128, 128, 8),
        (64, 128, 8),
        (128, 128, 16),
        (1, 1, 1),
        (16, 16, 16),
        (64, 32, 8),
        (100, 300, 7),
        (6, 3, 2),
    ),
    values=Values(
        gives="FLOP per requested byte",
        along="BN",
        at=(8, 16, 32, 64, 128, 256),
        rows={
            f"BM = {rows}": lambda columns, rows=rows: (rows, columns, 8)
            for rows in (8, 16, 32, 64, 128, 256)
        },
        shows="However long a tile is, its intensity stays below twice that of a square tile with "
        "the same short edge.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda BM, BN, BK: BM * BN / (4 * (BM + BN)),
            "you count a multiply-add as 1 FLOP, but it is 2",
            "How many FLOP are in one multiply and one add?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 2 * BM * BN / (BM + BN),
            "you computed FLOP per number, but the task asks for FLOP per byte",
            "How many bytes does a float32 take up?",
        ),
        WrongIdea(
            lambda BM, BN, BK: BM * BN / (BM + BN),
            "you computed multiply-adds per number, but the task asks for FLOP per byte",
            "How many FLOP does a multiply-add count as, and how many bytes does a float32 take "
            "up?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 2 * BM * BN * BK / (4 * (BM + BN)),
            "you count the FLOP of a whole step along K, but the bytes for only one value of k",
            "How many elements of A does the block load in one step along K?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 2 * BM * BN / (4 * BK * (BM + BN)),
            "you count the bytes of a whole step along K, but the FLOP for only one value of k",
            "How many multiply-adds does each output take in one step along K?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 2 * BM * BN * BK / (4 * (BM * BK + BK * BN + BM * BN)),
            "you also count the tile of C, but the block writes it only once, after the last step",
            "Which two tiles does a block load in one step along K?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 2 * BK * (BM + BN) / (BM * BN * BK),
            "you computed bytes per FLOP, but the task asks for FLOP per byte",
            "For FLOP per byte, do you divide the FLOP by the bytes, or the bytes by the FLOP?",
        ),
        WrongIdea(
            lambda BM, BN, BK: BM / 4,
            "your formula is right only for square tiles",
            "For a tile of 64 × 128, how many elements of A and how many elements of B does a "
            "block load in one step along K?",
        ),
        WrongIdea(
            lambda BM, BN, BK: BN / 4,
            "your formula is right only for square tiles",
            "For a tile of 64 × 128, how many elements of A and how many elements of B does a "
            "block load in one step along K?",
        ),
        WrongIdea(
            lambda BM, BN, BK: (BM + BN) / 8,
            "your formula is right only for square tiles",
            "For a tile of 64 × 128, how many elements of A and how many elements of B does a "
            "block load in one step along K?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 2 * BM * BN * BK / 4 * (BM * BK + BK * BN),
            "in your formula, Python divides by 4 first and only then multiplies",
            "Where does your formula need parentheses?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 2 * BM * BN * BK / (4 * BM * BK + BK * BN),
            "you converted only the tile of A to bytes",
            "Where does your formula need parentheses?",
        ),
        WrongIdea(
            lambda BM, BN, BK: 2 * BM * BN * BK / (4 * BM * BK),
            "you left out the tile of B",
            "A block loads a tile of A and a tile of B in each step along K.",
        ),
        WrongIdea(
            lambda BM, BN, BK: BM * BN // (2 * (BM + BN)),
            "you used `//`, which drops the fraction",
            "What is 3 / 2, and what is 3 // 2?",
        ),
    ),
    hints=(
        "In one step along K, a block loads one tile of A and one tile of B. How many bytes do "
        "these two tiles take up?",
        "How many multiply-adds does the block do with the two tiles of one step? Each output "
        "takes BK multiply-adds.",
        "A multiply-add is 2 FLOP.",
    ),
    given='''\
def intensity(BM, BN, BK):
    """Return the FLOP per requested byte of a block with BM × BN outputs and steps of BK."""
    ...
''',
    answer='''\
def intensity(BM, BN, BK):
    """Return the FLOP per requested byte of a block with BM × BN outputs and steps of BK."""
    return 2 * BM * BN * BK / (4 * (BM * BK + BK * BN))
''',
    another='''\
def intensity(BM, BN, BK):
    """Return the FLOP per requested byte of a block with BM × BN outputs and steps of BK."""
    return BM * BN / (2 * (BM + BN))
''',
    compared="BK appears in the numerator and in the denominator, so it cancels.",
    par=1,
    meaning="**BK cancels.** BK only decides how much a block stages at once, so it may be small.",
)
