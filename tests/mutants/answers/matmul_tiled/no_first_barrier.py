# EXERCISE matmul_tiled
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    As = cuda.shared.array((TILE, TILE), float32)
    Bs = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    zero = float32(0)
    acc = zero
    for t in range((A.shape[1] + TILE - 1) // TILE):
        ka = t * TILE + j
        kb = t * TILE + i
        As[i, j] = A[y, ka] if y < A.shape[0] and ka < A.shape[1] else zero  # <- race-read-after-write
        Bs[i, j] = B[kb, x] if kb < B.shape[0] and x < B.shape[1] else zero  # <- race-read-after-write
        for k in range(TILE):
            acc += As[i, k] * Bs[k, j]  # <- race-read-after-write
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = acc
