# exercise: matmul_tiled
# marked: wrong; cause: Cells of A's tile whose element does not exist are not set to zero and keep what they held before; code: stale-shared-read|uninitialised-read; lines: [16, 17]
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    a_part = cuda.shared.array((TILE, TILE), float32)
    b_part = cuda.shared.array((TILE, TILE), float32)
    j, i = cuda.grid(2)
    tj = cuda.threadIdx.x
    ti = cuda.threadIdx.y
    K = A.shape[1]
    out = float32(0)
    for k0 in range(0, K, TILE):
        if i < A.shape[0] and k0 + tj < K:
            a_part[ti, tj] = A[i, k0 + tj]
        b_part[ti, tj] = float32(0)
        if j < B.shape[1] and k0 + ti < K:
            b_part[ti, tj] = B[k0 + ti, j]
        cuda.syncthreads()
        for kk in range(TILE):
            out += a_part[ti, kk] * b_part[kk, tj]
        cuda.syncthreads()
    if i < C.shape[0] and j < C.shape[1]:
        C[i, j] = out
