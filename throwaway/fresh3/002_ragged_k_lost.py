# exercise: matmul_tiled
# marked: wrong; cause: the number of tiles along K is rounded down, so that the last steps of a K that 16 does not divide are missing; code: wrong-loop-bound; lines: [17]
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    M, K = A.shape
    N = B.shape[1]
    sa = cuda.shared.array((TILE, TILE), float32)
    sb = cuda.shared.array((TILE, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    row = TILE * cuda.blockIdx.y + y
    col = TILE * cuda.blockIdx.x + x
    total = float32(0)
    steps = K // TILE
    s = 0
    while s < steps:
        ka = s * TILE + x
        kb = s * TILE + y
        sa[y, x] = 0
        sb[y, x] = 0
        if row < M and ka < K:
            sa[y, x] = A[row, ka]
        if kb < K and col < N:
            sb[y, x] = B[kb, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += sa[y, k] * sb[k, x]
        cuda.syncthreads()
        s += 1
    if row < M and col < N:
        C[row, col] = total
