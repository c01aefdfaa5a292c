"""The product of lesson 05 in Triton: addresses and masks, and a sum that stays."""

from dataclasses import replace

from course_lib.registry.kinds import TRITON
from course_lib.tasks import ct_product

TASK = replace(
    ct_product.TASK,
    id="tl_product",
    title="The product, in Triton",
    kind=TRITON,
    position=8,
    scalars=("M", "N", "K"),
    hints=(
        "A tile of A has the indices rows x ks, and a tile of B has the indices ks x columns. In "
        "which of the two tiles does ks run along a row?",
        "A row of A has K elements, and a row of B has N. So the addresses are `A + rows * K + "
        "ks` and `B + ks * N + columns`.",
        "`tl.dot(a, b, acc)` returns the new sum. Past the edge along k, both loads need "
        "`other=0.0`.",
    ),
    given='''\
@triton.jit
def tl_product(A, B, C, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    """C = A @ B. Program (i, j) computes tile (i, j) of C, which is TM x TN, in steps of TK along
    k."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    columns = tl.program_id(1) * TN + tl.arange(0, TN)[None, :]
    ...
''',
    answer='''\
@triton.jit
def tl_product(A, B, C, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    """C = A @ B. Program (i, j) computes tile (i, j) of C, which is TM x TN, in steps of TK along
    k."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    columns = tl.program_id(1) * TN + tl.arange(0, TN)[None, :]
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for first in range(0, K, TK):
        across = first + tl.arange(0, TK)[None, :]
        down = first + tl.arange(0, TK)[:, None]
        a = tl.load(A + rows * K + across, mask=(rows < M) & (across < K), other=0.0)
        b = tl.load(B + down * N + columns, mask=(down < K) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(C + rows * N + columns, acc, mask=(rows < M) & (columns < N))
''',
    another='''\
@triton.jit
def tl_product(A, B, C, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    """C = A @ B. Program (i, j) computes tile (i, j) of C, which is TM x TN, in steps of TK along
    k."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    columns = tl.program_id(1) * TN + tl.arange(0, TN)[None, :]
    ks = tl.arange(0, TK)
    a_at = A + rows * K + ks[None, :]
    b_at = B + ks[:, None] * N + columns
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for first in range(0, K, TK):
        a = tl.load(a_at, mask=(rows < M) & (ks[None, :] < K - first), other=0.0)
        b = tl.load(b_at, mask=(ks[:, None] < K - first) & (columns < N), other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
        a_at += TK
        b_at += TK * N
    tl.store(C + rows * N + columns, acc, mask=(rows < M) & (columns < N))
''',
    compared="This version computes the addresses once and then advances them, as Triton's own "
    "tutorial does.",
    par=8,
    meaning="The compiler sees that many threads read the same tile, and stages it in shared "
    "memory by itself.",
)
