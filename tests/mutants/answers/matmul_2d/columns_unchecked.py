# EXERCISE matmul_2d
from numba import cuda, float32

BM, BN, BK = 64, 64, 8
TM, TN = 4, 4
CREW = 256
ACROSS = 16


@cuda.jit
def matmul_2d(A, B, C):
    tile_a = cuda.shared.array((BM, BK), float32)
    tile_b = cuda.shared.array((BK, BN), float32)
    acc = cuda.local.array((TM, TN), float32)
    col_of_a = cuda.local.array(TM, float32)
    t = cuda.threadIdx.x
    tr = t // ACROSS
    tc = t % ACROSS
    top = BM * cuda.blockIdx.y
    left = BN * cuda.blockIdx.x
    m, K = A.shape
    n = B.shape[1]
    for u in range(TM):
        for v in range(TN):
            acc[u, v] = float32(0)
    k0 = 0
    while k0 < K:
        for e in range(t, BM * BK, CREW):
            y = e // BK
            x = e % BK
            if top + y < m and k0 + x < K:
                tile_a[y, x] = A[top + y, k0 + x]
            else:
                tile_a[y, x] = float32(0)
        for e in range(t, BK * BN, CREW):
            y = e // BN
            x = e % BN
            if k0 + y < K and left + x < n:
                tile_b[y, x] = B[k0 + y, left + x]
            else:
                tile_b[y, x] = float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for u in range(TM):
                col_of_a[u] = tile_a[tr * TM + u, k]
            for v in range(TN):
                b = tile_b[k, tc + v * ACROSS]
                for u in range(TM):
                    acc[u, v] += col_of_a[u] * b
        cuda.syncthreads()
        k0 += BK
    for u in range(TM):
        row = top + tr * TM + u
        if row < m:  # <- wrong-bounds-check
            for v in range(TN):
                col = left + tc + v * ACROSS
                C[row, col] = acc[u, v]  # <- out-of-bounds-write
