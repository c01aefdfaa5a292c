# exercise: matmul_tiled
# marked: right
from numba import cuda, float32

TILE = 32
ROW = 33


@cuda.jit
def matmul_tiled(A, B, C):
    # no zeros: the last tile is simply walked less far
    sA = cuda.shared.array((TILE, ROW), float32)
    sB = cuda.shared.array((TILE, ROW), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * cuda.blockDim.y + ty
    col = cuda.blockIdx.x * cuda.blockDim.x + tx
    mine = not (row >= C.shape[0] or col >= C.shape[1])
    rest = A.shape[1]
    done = 0
    total = float32(0)
    while rest > 0:
        here = min(rest, TILE)
        if tx < here and row < C.shape[0]:
            sA[ty, tx] = A[row, done + tx]
        if ty < here and col < C.shape[1]:
            sB[ty, tx] = B[done + ty, col]
        cuda.syncthreads()
        if mine:
            for k in range(here):
                total += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
        rest -= here
        done += here
    if mine:
        C[row, col] = total
