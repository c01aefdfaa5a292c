"""Sums of long rows in Triton: a mask leaves elements out, and `other` says what they hold."""

from dataclasses import replace

from course_lib.registry.kinds import TRITON
from course_lib.tasks import ct_row_sum

TASK = replace(
    ct_row_sum.TASK,
    id="tl_row_sum",
    title="A sum for each row, in Triton",
    kind=TRITON,
    position=6,
    scalars=("M", "N"),
    hints=(
        "Loop over the first columns of the tiles: 0, TN, 2 TN, … below N.",
        "Elements that a mask leaves out have no value unless `other=` gives them one. Which "
        "value adds nothing to a sum?",
        "`tl.sum(tile, axis=1)` returns one number for each row, so the result is a tile of TM "
        "numbers.",
    ),
    given='''\
@triton.jit
def tl_row_sum(A, y, M, N, TM: tl.constexpr, TN: tl.constexpr):
    """y[row] = the sum of that row of A, which is M x N. Program i adds up TM rows, one tile of TM
    x TN after another."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)
    ...
''',
    answer='''\
@triton.jit
def tl_row_sum(A, y, M, N, TM: tl.constexpr, TN: tl.constexpr):
    """y[row] = the sum of that row of A, which is M x N. Program i adds up TM rows, one tile of TM
    x TN after another."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)
    total = tl.zeros((TM,), dtype=tl.float32)
    for first in range(0, N, TN):
        ks = first + tl.arange(0, TN)
        inside = (rows[:, None] < M) & (ks[None, :] < N)
        tile = tl.load(A + rows[:, None] * N + ks[None, :], mask=inside, other=0.0)
        total += tl.sum(tile, axis=1)
    tl.store(y + rows, total, mask=rows < M)
''',
    another='''\
@triton.jit
def tl_row_sum(A, y, M, N, TM: tl.constexpr, TN: tl.constexpr):
    """y[row] = the sum of that row of A, which is M x N. Program i adds up TM rows, one tile of TM
    x TN after another."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)
    ks = tl.arange(0, TN)
    places = A + rows[:, None] * N + ks[None, :]
    total = tl.zeros((TM, TN), dtype=tl.float32)
    for first in range(0, N, TN):
        inside = (rows[:, None] < M) & (ks[None, :] < N - first)
        total += tl.load(places, mask=inside, other=0.0)
        places += TN
    tl.store(y + rows, tl.sum(total, axis=1), mask=rows < M)
''',
    compared="This version advances a tile of addresses, and sums along the rows only once, after "
    "the loop.",
    par=7,
)
