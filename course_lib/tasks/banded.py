"""In which order blocks take the tiles of C, so that L2 is asked for less: a device function."""

from course_lib.registry.exercise import Task, WrongIdea

ROWS, COLUMNS, BAND = 8, 6, 4


def order_of(place, rows=ROWS, columns=COLUMNS):
    """The numbers of the tiles where a function from number to (row, column) puts them."""
    found = [[-1] * columns for _ in range(rows)]
    for number in range(rows * columns):
        row, column = place(number)
        if row < rows and column < columns:
            found[row][column] = number
    return found


def _in_bands(number: int) -> tuple[int, int]:
    which, inside = divmod(number, BAND * COLUMNS)
    return which * BAND + inside % BAND, inside // BAND


TASK = Task(
    id="banded",
    title="Tiles in bands",
    lesson="10b",
    position=4,
    parameters=("out",),
    output="out",
    grid=(ROWS * COLUMNS,),
    block=(1,),
    shapes=(f"{ROWS},{COLUMNS}",),
    reference=lambda: order_of(_in_bands),
    before=-1,
    formula="out[row, column] = number of the tile",
    wrong_ideas=(
        WrongIdea(
            lambda: order_of(lambda n: (n // COLUMNS, n % COLUMNS)),
            "your function numbers the tiles row by row, across the whole width of C",
            "In a band of four rows, which tile should come right after tile 0: the tile below it, "
            "or the tile to its right?",
        ),
        WrongIdea(
            lambda: order_of(lambda n: (n % ROWS, n // ROWS)),
            "your function numbers the tiles down each whole column of C, not only down the rows "
            "of one band",
            "Suppose that a tile is in the last row of its band. In which row and column is the "
            "tile with the next number?",
        ),
        WrongIdea(
            lambda: order_of(
                lambda n: (
                    n // (BAND * COLUMNS) * BAND + n % (BAND * COLUMNS) // COLUMNS,
                    n % COLUMNS,
                )
            ),
            "within a band, your function numbers the tiles along the rows instead of down the "
            "columns",
            "In a band of four rows, which tile should come right after tile 0: the tile below it, "
            "or the tile to its right?",
        ),
        WrongIdea(
            lambda: order_of(lambda n: (n % (BAND * COLUMNS) % BAND, n % (BAND * COLUMNS) // BAND)),
            "your function places every band at the top of C, in the first rows of tiles",
            "If each band has four rows of tiles, in which row of tiles does the second "
            "band begin?",
        ),
        WrongIdea(
            lambda: order_of(
                lambda n: (
                    n // (BAND * COLUMNS) + n % (BAND * COLUMNS) % BAND,
                    n % (BAND * COLUMNS) // BAND,
                )
            ),
            "each band begins only one row below the start of the previous band",
            "If each band has four rows of tiles, in which row of tiles does the second "
            "band begin?",
        ),
        WrongIdea(
            lambda: order_of(
                lambda n: (
                    n // (BAND * COLUMNS) * BAND + n % (BAND * COLUMNS) % BAND,
                    n % (BAND * COLUMNS) // COLUMNS,
                )
            ),
            "within a band, your function moves on to the next column only after `columns` tiles",
            "If a band has four rows, how many of its tiles are in one column?",
        ),
    ),
    hints=(
        "A band has `band * columns` tiles. Which band does tile `number` belong to, and how many "
        "tiles of the same band come before tile `number`?",
        "Within a band, number the tiles of a column before you move on to the next column. Each "
        "column of the band has `band` tiles.",
        "Within its band, a tile has the number `number % (band * columns)`. Divide this number by "
        "`band`: the remainder is the row within the band, and the quotient is the column.",
    ),
    given='''\
@cuda.jit(device=True)
def banded(number, rows, columns, band):
    """Return the row and the column of tile `number`. The tiles are numbered down the columns of
    one band of rows, and then down those of the next band.

    C has rows x columns tiles, and `band` divides `rows`.
    """
    ...
''',
    answer='''\
@cuda.jit(device=True)
def banded(number, rows, columns, band):
    """Return the row and the column of tile `number`. The tiles are numbered down the columns of
    one band of rows, and then down those of the next band.

    C has rows x columns tiles, and `band` divides `rows`.
    """
    which, inside = number // (band * columns), number % (band * columns)
    return which * band + inside % band, inside // band
''',
    another='''\
@cuda.jit(device=True)
def banded(number, rows, columns, band):
    """Return the row and the column of tile `number`. The tiles are numbered down the columns of
    one band of rows, and then down those of the next band.

    C has rows x columns tiles, and `band` divides `rows`.
    """
    column = number // band % columns
    return number // (band * columns) * band + number % band, column
''',
    caller='''\
@cuda.jit
def caller(out):
    """Each block writes its number at the place of its tile. A band has four rows."""
    row, column = banded(cuda.blockIdx.x, out.shape[0], out.shape[1], 4)
    out[row, column] = cuda.blockIdx.x
''',
    compared="The number of tiles in a band is a multiple of `band`, so this version never has to "
    "compute a tile's number within its band.",
    par=2,
    meaning="The kernel does the same work as before, but the tiles that the GPU computes at the "
    "same time now lie closer together.",
)
