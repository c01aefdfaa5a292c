"""Loads for each multiply-add of a thread that owns a rectangle of outputs: a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION

TASK = Task(
    id="loads_per_multiply_add",
    title="What a rectangle costs",
    lesson="08",
    position=4,
    kind=FUNCTION,
    parameters=("rows", "columns"),
    reference=lambda rows, columns: (rows + columns) / (rows * columns),
    arguments=((1, 1), (4, 1), (8, 1), (2, 2), (1, 16), (4, 4), (4, 8), (8, 8), (3, 5)),
    values=Values(
        gives="loads for each multiply-add",
        along="columns",
        at=(1, 2, 4, 8, 16),
        rows={
            f"{rows} rows" if rows > 1 else "1 row": lambda columns, rows=rows: (rows, columns)
            for rows in (1, 2, 4, 8, 16)
        },
        shows="A thread with 4 × 4 outputs loads fewer numbers than a thread with 1 × 16 "
        "outputs, although both compute 16.",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda rows, columns: rows + columns,
            "you computed the loads of a whole step along k, but the task asks for loads per "
            "multiply-add",
            "How many multiply-adds does a thread do with the numbers that it loads in one step "
            "along k?",
        ),
        WrongIdea(
            lambda rows, columns: rows + columns / rows * columns,
            "in your formula, Python divides before it adds",
            "Where does your formula need parentheses?",
        ),
        WrongIdea(
            lambda rows, columns: 1 / (rows * columns),
            "you count one load for the whole rectangle",
            "How many different elements of A does the rectangle need in a step along k, and how "
            "many of B?",
        ),
        WrongIdea(
            lambda rows, columns: rows * columns / (rows + columns),
            "you computed multiply-adds per load, but the task asks for loads per multiply-add",
            "For loads per multiply-add, which of the two counts do you divide by the other?",
        ),
        WrongIdea(
            lambda rows, columns: (1 + rows * columns) / (rows * columns),
            "you count one element of A and a new element of B for every output",
            "How many columns does the rectangle have, and how many elements of B does each "
            "column need in one step?",
        ),
        WrongIdea(
            lambda rows, columns: 2 / (rows * columns),
            "you count one load of A and one load of B for the whole rectangle",
            "How many different elements of A do the rows of the rectangle need in a step along k?",
        ),
        WrongIdea(
            lambda rows, columns: 2 * rows * columns / (rows * columns),
            "your formula would be right if the thread loaded both numbers again for every product",
            "How many *different* numbers does the rectangle need in a step along k?",
        ),
    ),
    hints=(
        "In one step along k, how many elements of A do the rows of the rectangle need, and how "
        "many elements of B do its columns need?",
        "How many sums does the rectangle have? Each sum takes one multiply-add in each step.",
    ),
    given='''\
def loads_per_multiply_add(rows, columns):
    """Return how many loads a thread with `rows` x `columns` outputs needs per multiply-add."""
    ...
''',
    answer='''\
def loads_per_multiply_add(rows, columns):
    """Return how many loads a thread with `rows` x `columns` outputs needs per multiply-add."""
    return (rows + columns) / (rows * columns)
''',
    another='''\
def loads_per_multiply_add(rows, columns):
    """Return how many loads a thread with `rows` x `columns` outputs needs per multiply-add."""
    return 1 / rows + 1 / columns
''',
    compared="Each element of B is used in all rows, and each element of A in all columns. So a "
    "multiply-add costs 1 / rows + 1 / columns loads.",
    par=1,
    meaning="The result is half the perimeter of the rectangle divided by its area. Of all "
    "rectangles with the same area, the square has the shortest perimeter.",
)
