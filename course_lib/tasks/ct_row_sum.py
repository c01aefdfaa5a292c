"""Sums of long rows in cuTile: what is past the edge takes part, so it needs a value."""

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.registry.kinds import CUTILE

TASK = Task(
    id="ct_row_sum",
    title="A sum for each row, in cuTile",
    lesson="13",
    kind=CUTILE,
    position=5,
    parameters=("A", "y"),
    output="y",
    constants={"TM": 8, "TN": 16},
    other_constants=({"TM": 16, "TN": 8},),
    grid=("M",),
    block=("TM",),
    shapes=("M,N", "M"),
    reference=lambda A: A.sum(axis=1),
    formula="y[row] = the sum of A[row, k] over k",
    wrong_ideas=(
        WrongIdea(
            lambda A: A.max(axis=1),
            "each element is the largest number of its row instead of the sum",
            "Which function adds up a tile along an axis?",
        ),
        WrongIdea(
            lambda A: A.mean(axis=1),
            "each element is the average of its row instead of the sum",
            "What does your kernel divide the sum of a row by?",
        ),
    ),
    hints=(
        "A row of A spans several tiles, and `ct.num_tiles` returns how many.",
        "The last tile ends past the edge. Which value adds nothing to a sum?",
        "Keep TM sums, one for each row. For each tile that you load, sum its rows along `axis=1`, "
        "and add these results to your TM sums.",
    ),
    given='''\
@ct.kernel
def ct_row_sum(A, y, TM: ct.Constant[int], TN: ct.Constant[int]):
    """y[row] = the sum of that row of A, which is M x N. Program i adds up TM rows, one tile of TM
    x TN after another."""
    i = ct.bid(0)
    ...
''',
    answer='''\
@ct.kernel
def ct_row_sum(A, y, TM: ct.Constant[int], TN: ct.Constant[int]):
    """y[row] = the sum of that row of A, which is M x N. Program i adds up TM rows, one tile of TM
    x TN after another."""
    i = ct.bid(0)
    total = ct.zeros((TM,), dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(TM, TN))):
        tile = ct.load(A, index=(i, k), shape=(TM, TN), padding_mode=ct.PaddingMode.ZERO)
        total = total + ct.sum(tile, axis=1)
    ct.store(y, index=(i,), tile=total)
''',
    another='''\
@ct.kernel
def ct_row_sum(A, y, TM: ct.Constant[int], TN: ct.Constant[int]):
    """y[row] = the sum of that row of A, which is M x N. Program i adds up TM rows, one tile of TM
    x TN after another."""
    i = ct.bid(0)
    total = ct.zeros((TM, TN), dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(TM, TN))):
        total = total + ct.load(A, (i, k), (TM, TN), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, index=(i,), tile=ct.sum(total, axis=1))
''',
    compared="This version adds whole tiles, and sums along the rows only once, after the loop. So "
    "the threads exchange fewer numbers.",
    par=5,
    meaning="As soon as elements past the edge take part in the result, they need a value. For a "
    "sum, that value is 0.",
)
