"""The bank in which an element of a tile lies: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="bank_of",
    title="The bank of an element",
    lesson="07",
    position=2,
    kind=FUNCTION,
    parameters=("row", "column", "width"),
    reference=lambda row, column, width: (row * width + column) % 32,
    arguments=tuple(
        (row, column, width)
        for column, row in ((5, 1), (5, 0), (0, 31), (30, 7), (9, 4))
        for width in (32, 33, 40)
    ),
    values=Values(
        gives="bank",
        along="column",
        at=tuple(range(32)),
        rows={
            f"width {width}, row {row}": lambda column, row=row, width=width: (row, column, width)
            for width in (32, 33)
            for row in range(4)
        },
        shows="With rows of 32 words, all elements of a column are in the same bank. With rows of "
        "33 words, the bank moves on by one from each row to the next.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda row, column, width: (row * width + column) // 32,
            "you computed in which group of 32 words the element is, not in which bank",
            "Words 0 and 32 are both in bank 0. Which operation turns both 0 and 32 into 0?",
        ),
        WrongIdea(
            lambda row, column, width: row * width + column,
            "you returned the number of the word that holds the element, and this number can be "
            "larger than 31",
            "There are only 32 banks, and word 32 is in bank 0 again. Which bank is word 33 in?",
        ),
        WrongIdea(
            lambda row, column, width: (column * width + row) % 32,
            "your formula swaps the row and the column",
            "How many elements of the tile come before the first element of row 1?",
        ),
        WrongIdea(
            lambda row, column, width: column,
            "you returned the element's column and ignored its row",
            "With rows of 33 words, row 1 begins with word 33. Which bank is word 33 in?",
        ),
        WrongIdea(
            lambda row, column, width: (row + column) % 32,
            "in your formula, each row begins only one word after the start of the previous row",
            "How many words does one row of the tile take up?",
        ),
        WrongIdea(
            lambda row, column, width: 4 * (row * width + column) % 32,
            "you count in bytes, but a bank holds whole words of 4 bytes",
            "Word 1 is in bank 1. Which bank does your function return for word 1?",
        ),
        WrongIdea(
            lambda row, column, width: 4 * (row * width + column) % 128,
            "you count in bytes, but a bank holds whole words of 4 bytes",
            "Word 1 is in bank 1. Which bank does your function return for word 1?",
        ),
        WrongIdea(
            lambda row, column, width: (row * width + column) / 32,
            "you return the quotient of the division by 32, but the bank is the remainder",
            "Word 34 is in bank 2. Which operation on 34 and 32 gives 2?",
        ),
        WrongIdea(
            lambda row, column, width: row * width + column % 32,
            "your formula takes only the column mod 32, because `%` binds as tightly as `*` and "
            "more tightly than `+`",
            "Where does your formula need parentheses?",
        ),
    ),
    hints=(
        "How many words come before the first word of row 1, and how many come before the first "
        "word of row 2?",
        "`tile[row, column]` is word `row * width + column` of the tile. Divide the number of this "
        "word by 32: the remainder is the bank.",
    ),
    given='''\
def bank_of(row, column, width):
    """Return the bank that holds tile[row, column], if each row of the tile has `width` words."""
    ...
''',
    answer='''\
def bank_of(row, column, width):
    """Return the bank that holds tile[row, column], if each row of the tile has `width` words."""
    return (row * width + column) % 32
''',
    another='''\
def bank_of(row, column, width):
    """Return the bank that holds tile[row, column], if each row of the tile has `width` words."""
    return (row * width + column) & 31
''',
    compared="Since 32 is a power of two, the remainder consists of the lowest five bits of the "
    "word's number.",
    par=1,
    meaning="From one row to the next, the bank of a column moves on by `width` mod 32. With rows "
    "of 32 words, the bank does not change at all.",
)
