"""Add two matrices whose sizes no tile divides, in cuTile, which cuts tiles off at the edge."""

from course_lib.registry.exercise import Task, WrongIdea
from course_lib.registry.kinds import CUTILE

TASK = Task(
    id="ct_add",
    title="Add with edges, in cuTile",
    lesson="13",
    kind=CUTILE,
    position=3,
    parameters=("A", "B", "C"),
    output="C",
    constants={"TM": 16, "TN": 16},
    other_constants=({"TM": 8, "TN": 32}, {"TM": 32, "TN": 8}),
    grid=("M", "N"),
    block=("TM", "TN"),
    shapes=("M,N", "M,N", "M,N"),
    reference=lambda A, B: A + B,
    formula="C = A + B",
    wrong_ideas=(
        WrongIdea(
            lambda A, B: 2 * A,
            "your kernel adds A to itself",
            "From which array does your kernel load each of its two tiles?",
        ),
        WrongIdea(
            lambda A, B: A * B,
            "your kernel multiplies A by B instead of adding them",
            "Which operator adds?",
        ),
    ),
    hints=(
        "In each of the three arrays, program (i, j) works on tile (i, j).",
        "If a tile extends past the edge, `ct.store` drops the part that lies outside the array.",
    ),
    given='''\
@ct.kernel
def ct_add(A, B, C, TM: ct.Constant[int], TN: ct.Constant[int]):
    """C = A + B, where all three are M x N. Program (i, j) computes tile (i, j) of C, which is TM x
    TN. Some tiles end past the edge."""
    i, j = ct.bid(0), ct.bid(1)
    ...
''',
    answer='''\
@ct.kernel
def ct_add(A, B, C, TM: ct.Constant[int], TN: ct.Constant[int]):
    """C = A + B, where all three are M x N. Program (i, j) computes tile (i, j) of C, which is TM x
    TN. Some tiles end past the edge."""
    i, j = ct.bid(0), ct.bid(1)
    a = ct.load(A, index=(i, j), shape=(TM, TN))
    b = ct.load(B, index=(i, j), shape=(TM, TN))
    ct.store(C, index=(i, j), tile=a + b)
''',
    another='''\
@ct.kernel
def ct_add(A, B, C, TM: ct.Constant[int], TN: ct.Constant[int]):
    """C = A + B, where all three are M x N. Program (i, j) computes tile (i, j) of C, which is TM x
    TN. Some tiles end past the edge."""
    i, j = ct.bid(0), ct.bid(1)
    a = ct.load(A, index=(i, j), shape=(TM, TN), padding_mode=ct.PaddingMode.ZERO)
    b = ct.load(B, index=(i, j), shape=(TM, TN), padding_mode=ct.PaddingMode.ZERO)
    ct.store(C, index=(i, j), tile=a + b)
''',
    compared="This version gives the elements past the edge a value. No result uses that value, "
    "so the padding does no harm, but it is not needed.",
    par=3,
    meaning="Elements past the edge have no defined value. This kernel does not need one, because "
    "the store drops these elements.",
)
