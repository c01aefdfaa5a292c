"""The product in cuTile: C = A @ B in the inputs' type, added up in float32."""

import cuda.tile as ct


def matmul(A, B, C, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """One tile of C, tm x tn; what lies past an edge is loaded as 0."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(A, axis=1, shape=(tm, tk))):
        a = ct.load(A, index=(i, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        b = ct.load(B, index=(k, j), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(a, b, acc)
    ct.store(C, index=(i, j), tile=ct.astype(acc, C.dtype))


BY_WARPS = {
    None: ct.kernel(matmul),
    4: ct.kernel(matmul, num_worker_warps=4),
    8: ct.kernel(matmul, num_worker_warps=8),
}
