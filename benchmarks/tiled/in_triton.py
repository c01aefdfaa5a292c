"""The product in Triton: C = A @ B in the inputs' type, added up in float32."""

import triton
import triton.language as tl


@triton.jit
def matmul(
    A, B, C, M, N, K,
    tm: tl.constexpr, tn: tl.constexpr, tk: tl.constexpr,
):  # fmt: skip
    """One tile of C, tm x tn, of row-major matrices; masks leave out what lies past an edge."""
    rows = tl.program_id(0) * tm + tl.arange(0, tm)
    columns = tl.program_id(1) * tn + tl.arange(0, tn)
    acc = tl.zeros((tm, tn), dtype=tl.float32)
    for start in range(0, K, tk):
        ks = start + tl.arange(0, tk)
        a = tl.load(
            A + rows[:, None] * K + ks[None, :],
            mask=(rows[:, None] < M) & (ks[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            B + ks[:, None] * N + columns[None, :],
            mask=(ks[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        acc = tl.dot(a, b, acc)
    tl.store(
        C + rows[:, None] * N + columns[None, :],
        acc.to(C.dtype.element_ty),
        mask=(rows[:, None] < M) & (columns[None, :] < N),
    )
