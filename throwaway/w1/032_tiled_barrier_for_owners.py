# exercise: matmul_tiled
# marked: wrong; cause: Only threads that own an element of C reach the barrier, the others go on without it; code: barrier-divergence|race-read-after-write; lines: [26, 27]
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    c, r = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    owner = r < C.shape[0] and c < C.shape[1]
    K = A.shape[1]
    total = float32(0)
    for s in range((K + TILE - 1) // TILE):
        ka = s * TILE + tx
        kb = s * TILE + ty
        if r < A.shape[0] and ka < K:
            sA[ty, tx] = A[r, ka]
        else:
            sA[ty, tx] = float32(0)
        if kb < K and c < B.shape[1]:
            sB[ty, tx] = B[kb, c]
        else:
            sB[ty, tx] = float32(0)
        if owner:
            cuda.syncthreads()
            for k in range(TILE):
                total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if owner:
        C[r, c] = total
