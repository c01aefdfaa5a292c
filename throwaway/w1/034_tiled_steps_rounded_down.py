# exercise: matmul_tiled
# marked: wrong; cause: The number of steps along K is rounded down, so a last tile that is not full is left out; code: wrong-loop-bound; lines: [20, 21]
from numba import cuda, float32

TILE = 16


@cuda.jit(device=True)
def pick(matrix, row, col):
    if row < matrix.shape[0] and col < matrix.shape[1]:
        return matrix[row, col]
    return float32(0)


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    steps = A.shape[1] // TILE
    for step in range(steps):
        sA[ty, tx] = pick(A, y, step * TILE + tx)
        sB[ty, tx] = pick(B, step * TILE + ty, x)
        cuda.syncthreads()
        for k in range(TILE):
            total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = total
