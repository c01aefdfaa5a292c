"""A layer in one kernel, in Triton: product of float16, bias and ReLU before the one store."""

from dataclasses import replace

from course_lib.registry.kinds import TRITON
from course_lib.tasks import ct_bias_relu

TASK = replace(
    ct_bias_relu.TASK,
    id="tl_bias_relu",
    title="Product, bias and ReLU in one kernel, in Triton",
    kind=TRITON,
    position=10,
    scalars=("M", "N", "K"),
    hints=(
        "After the loop, the program already has its tile of A @ B, so it only has to load the "
        "bias.",
        "`bias + columns` is a row of TN addresses. When you add the numbers that you load from "
        "these addresses, Triton broadcasts them over the rows.",
        "A and B are float16, but `tl.dot` adds their products in float32.",
    ),
    given='''\
@triton.jit
def tl_bias_relu(A, B, bias, C, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    """C = max(A @ B + bias, 0), where bias has one number for each column of C. A and B are
    float16, and bias and C are float32."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    columns = tl.program_id(1) * TN + tl.arange(0, TN)[None, :]
    ...
''',
    answer='''\
@triton.jit
def tl_bias_relu(A, B, bias, C, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    """C = max(A @ B + bias, 0), where bias has one number for each column of C. A and B are
    float16, and bias and C are float32."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    columns = tl.program_id(1) * TN + tl.arange(0, TN)[None, :]
    acc = tl.zeros((TM, TN), dtype=tl.float32)
    for first in range(0, K, TK):
        across = first + tl.arange(0, TK)[None, :]
        down = first + tl.arange(0, TK)[:, None]
        a = tl.load(A + rows * K + across, mask=(rows < M) & (across < K), other=0.0)
        b = tl.load(B + down * N + columns, mask=(down < K) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc)
    added = tl.load(bias + columns, mask=columns < N)
    result = tl.maximum(acc + added, 0.0)
    tl.store(C + rows * N + columns, result, mask=(rows < M) & (columns < N))
''',
    another='''\
@triton.jit
def tl_bias_relu(A, B, bias, C, M, N, K, TM: tl.constexpr, TN: tl.constexpr, TK: tl.constexpr):
    """C = max(A @ B + bias, 0), where bias has one number for each column of C. A and B are
    float16, and bias and C are float32."""
    rows = tl.program_id(0) * TM + tl.arange(0, TM)[:, None]
    columns = tl.program_id(1) * TN + tl.arange(0, TN)[None, :]
    added = tl.load(bias + columns, mask=columns < N, other=0.0)
    acc = tl.broadcast_to(added, (TM, TN))
    for first in range(0, K, TK):
        across = first + tl.arange(0, TK)[None, :]
        down = first + tl.arange(0, TK)[:, None]
        a = tl.load(A + rows * K + across, mask=(rows < M) & (across < K), other=0.0)
        b = tl.load(B + down * N + columns, mask=(down < K) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc)
    result = tl.where(acc > 0.0, acc, 0.0)
    tl.store(C + rows * N + columns, result, mask=(rows < M) & (columns < N))
''',
    par=10,
)
