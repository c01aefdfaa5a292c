"""Add two matrices whose sizes no tile divides, in Triton, where a mask says what is inside."""

from dataclasses import replace

from course_lib.registry.kinds import TRITON
from course_lib.tasks import ct_add

TASK = replace(
    ct_add.TASK,
    id="tl_add",
    title="Add with edges, in Triton",
    kind=TRITON,
    position=4,
    scalars=("M", "N"),
    hints=(
        "`[:, None]` turns a tile into a column, and `[None, :]` turns it into a row.",
        "Element (row, column) is at `A + row * N + column`: rows are stored one after another.",
        "An address past the edge belongs to other data, so all three accesses need a `mask=` "
        "that leaves such addresses out.",
    ),
    given='''\
@triton.jit
def tl_add(A, B, C, M, N, TM: tl.constexpr, TN: tl.constexpr):
    """C = A + B, where all three are M x N. Program (i, j) computes tile (i, j) of C, which is TM x
    TN. Some tiles end past the edge."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    columns = tl.program_id(1) * TN + tl.arange(0, TN)[None, :]
    ...
''',
    answer='''\
@triton.jit
def tl_add(A, B, C, M, N, TM: tl.constexpr, TN: tl.constexpr):
    """C = A + B, where all three are M x N. Program (i, j) computes tile (i, j) of C, which is TM x
    TN. Some tiles end past the edge."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    columns = tl.program_id(1) * TN + tl.arange(0, TN)[None, :]
    places = rows * N + columns
    inside = (rows < M) & (columns < N)
    a = tl.load(A + places, mask=inside)
    b = tl.load(B + places, mask=inside)
    tl.store(C + places, a + b, mask=inside)
''',
    another='''\
@triton.jit
def tl_add(A, B, C, M, N, TM: tl.constexpr, TN: tl.constexpr):
    """C = A + B, where all three are M x N. Program (i, j) computes tile (i, j) of C, which is TM x
    TN. Some tiles end past the edge."""
    columns = tl.program_id(1) * TN + tl.arange(0, TN)
    for row in range(tl.program_id(0) * TM, min(M, (tl.program_id(0) + 1) * TM)):
        places = row * N + columns
        total = tl.load(A + places, mask=columns < N) + tl.load(B + places, mask=columns < N)
        tl.store(C + places, total, mask=columns < N)
''',
    compared="This version goes row by row, so only the columns need a mask. But only one row is "
    "in flight at a time.",
    par=5,
    meaning="The end of a row is not the end of the array, so without the mask you would write "
    "into the next row.",
)
