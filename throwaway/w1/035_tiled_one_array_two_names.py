# exercise: matmul_tiled
# marked: wrong; cause: Both names stand for the same shared array, so the element of B overwrites that of A; code: wrong-index|wrong-result|wrong-formula; lines: [9, 17]
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = tile_a  # the same shape
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = TILE * cuda.blockIdx.y + ty
    col = TILE * cuda.blockIdx.x + tx
    M, N, K = C.shape[0], C.shape[1], A.shape[1]
    total = float32(0)
    for base in range(0, K, TILE):
        tile_a[ty, tx] = A[row, base + tx] if row < M and base + tx < K else float32(0)
        tile_b[ty, tx] = B[base + ty, col] if base + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = total
