# exercise: matmul_tiled
# marked: right
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    # two buffers: the next fill goes where nobody reads any more
    bufA = cuda.shared.array((2, TILE, TILE), float32)
    bufB = cuda.shared.array((2, TILE, TILE), float32)
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    K = A.shape[1]
    total = float32(0)
    which = 0
    p = 0
    while p < K:
        bufA[which, ty, tx] = A[row, p + tx] if row < A.shape[0] and p + tx < K else float32(0)
        bufB[which, ty, tx] = B[p + ty, col] if p + ty < K and col < B.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += bufA[which, ty, k] * bufB[which, k, tx]
        which ^= 1
        p += TILE
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = total
