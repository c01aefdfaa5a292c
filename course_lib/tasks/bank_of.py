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
        shows="Go down a column: with rows of 32 words, the bank stays the same, and with rows of "
        "33 words, it moves on by one from row to row.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda row, column, width: (row * width + column) // 32,
            "you computed which row of 32 words the element is in, not its bank",
            "Word 32 is in bank 0 again. Which operation gives 0 for 32?",
        ),
        WrongIdea(
            lambda row, column, width: row * width + column,
            "you returned the number of the element's word, which can be larger than 31",
            "There are only 32 banks, and word 32 is in bank 0 again. Which bank is word 33 in?",
        ),
        WrongIdea(
            lambda row, column, width: (column * width + row) % 32,
            "your formula swaps the row and the column",
            "How many elements come before the first element of row 1?",
        ),
        WrongIdea(
            lambda row, column, width: column,
            "you returned the element's column and ignored its row",
            "With rows of 33 words, row 1 begins with word 33. Which bank is word 33 in?",
        ),
        WrongIdea(
            lambda row, column, width: (row + column) % 32,
            "in your formula, each row begins only one word after the previous row",
            "How many words does each earlier row take up?",
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
            "Word 33 is in bank 1. Which operation gives 1 for 33 and 32?",
        ),
        WrongIdea(
            lambda row, column, width: row * width + column % 32,
            "only the column is taken mod 32, because `%` binds as tightly as `*` and more "
            "tightly than `+`",
            "Where does your formula need parentheses?",
        ),
    ),
    hints=(
        "How many words come before the first word of row 1, and how many come before the first "
        "word of row 2?",
        "The element is word `row * width + column` of the tile. Its bank is the remainder after "
        "division by 32.",
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
    compared="32 is a power of two, so the remainder is the lowest five bits.",
    par=1,
    meaning="From one row to the next, the bank of a column moves on by `width` mod 32. With rows "
    "of 32 words, it does not move at all.",
)
