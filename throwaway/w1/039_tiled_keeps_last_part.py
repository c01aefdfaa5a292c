# exercise: matmul_tiled
# marked: wrong; cause: The sum of each tile replaces the total, where it should be added to it; code: accumulator-error; lines: [21]
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    c, r = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    K = A.shape[1]
    total = float32(0)
    for start in range(0, K, TILE):
        sA[ty, tx] = A[r, start + tx] if r < A.shape[0] and start + tx < K else float32(0)
        sB[ty, tx] = B[start + ty, c] if start + ty < K and c < B.shape[1] else float32(0)
        cuda.syncthreads()
        part = float32(0)
        for k in range(TILE):
            part += sA[ty, k] * sB[k, tx]
        total = part
        cuda.syncthreads()
    if r < C.shape[0] and c < C.shape[1]:
        C[r, c] = total
