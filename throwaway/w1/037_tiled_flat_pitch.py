# exercise: matmul_tiled
# marked: wrong; cause: The flat tile of B is walked along a row with k, where k should move by a whole row of TILE; code: wrong-index; lines: [25]
from numba import cuda, float32

TILE = 16
CELLS = 256


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array(CELLS, float32)
    sB = cuda.shared.array(CELLS, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    me = ty * TILE + tx
    col, row = cuda.grid(2)
    K = A.shape[1]
    total = float32(0)
    for start in range(0, K, TILE):
        sA[me] = float32(0)
        sB[me] = float32(0)
        if row < A.shape[0] and start + tx < K:
            sA[me] = A[row, start + tx]
        if col < B.shape[1] and start + ty < K:
            sB[me] = B[start + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            total += sA[ty * TILE + k] * sB[tx * TILE + k]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = total
