"""The softmax of long rows in Triton, online: a new maximum rescales the sum so far."""

from dataclasses import replace

from course_lib.registry.kinds import TRITON
from course_lib.tasks import ct_softmax

TASK = replace(
    ct_softmax.TASK,
    id="tl_softmax",
    title="The softmax of each row, online, in Triton",
    kind=TRITON,
    position=12,
    scalars=("M", "N"),
    hints=(
        "Write two loops over the tiles of the rows. The first finds the maximum and the sum, "
        "and the second stores the result.",
        "When `top` rises to `new`, the old sum is too large by the factor exp(new - top).",
        'With `other=-float("inf")`, an element past the edge is never the maximum. `top` has one '
        "number for each row; `top[:, None]` makes it a column.",
    ),
    given='''\
@triton.jit
def tl_softmax(x, out, M, N, TM: tl.constexpr, TN: tl.constexpr):
    """out = the softmax of each row of x, which is M x N. Program i computes TM rows, one tile of
    TM x TN after another."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    top = tl.full((TM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((TM,), dtype=tl.float32)
    ...
''',
    answer='''\
@triton.jit
def tl_softmax(x, out, M, N, TM: tl.constexpr, TN: tl.constexpr):
    """out = the softmax of each row of x, which is M x N. Program i computes TM rows, one tile of
    TM x TN after another."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    top = tl.full((TM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((TM,), dtype=tl.float32)
    for first in range(0, N, TN):
        ks = first + tl.arange(0, TN)[None, :]
        inside = (rows < M) & (ks < N)
        tile = tl.load(x + rows * N + ks, mask=inside, other=-float("inf"))
        new = tl.maximum(top, tl.max(tile, axis=1))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(tile - new[:, None]), axis=1)
        top = new
    for first in range(0, N, TN):
        ks = first + tl.arange(0, TN)[None, :]
        inside = (rows < M) & (ks < N)
        tile = tl.load(x + rows * N + ks, mask=inside)
        result = tl.exp(tile - top[:, None]) / total[:, None]
        tl.store(out + rows * N + ks, result, mask=inside)
''',
    another='''\
@triton.jit
def tl_softmax(x, out, M, N, TM: tl.constexpr, TN: tl.constexpr):
    """out = the softmax of each row of x, which is M x N. Program i computes TM rows, one tile of
    TM x TN after another."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    top = tl.full((TM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((TM,), dtype=tl.float32)
    for first in range(0, N, TN):
        ks = first + tl.arange(0, TN)[None, :]
        inside = (rows < M) & (ks < N)
        tile = tl.load(x + rows * N + ks, mask=inside, other=-float("inf"))
        top = tl.maximum(top, tl.max(tile, axis=1))
    for first in range(0, N, TN):
        ks = first + tl.arange(0, TN)[None, :]
        inside = (rows < M) & (ks < N)
        tile = tl.load(x + rows * N + ks, mask=inside, other=-float("inf"))
        total += tl.sum(tl.exp(tile - top[:, None]), axis=1)
    for first in range(0, N, TN):
        ks = first + tl.arange(0, TN)[None, :]
        inside = (rows < M) & (ks < N)
        tile = tl.load(x + rows * N + ks, mask=inside)
        result = tl.exp(tile - top[:, None]) / total[:, None]
        tl.store(out + rows * N + ks, result, mask=inside)
''',
    par=13,
)
