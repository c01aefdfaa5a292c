# EXERCISE transpose_tiled
from numba import cuda, float32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    if x >= A.shape[1] or y >= A.shape[0]:  # <- barrier-divergence
        return  # <- barrier-divergence
    tile[ty, tx] = A[y, x]
    cuda.syncthreads()  # <- barrier-divergence
    row = cuda.blockIdx.x * 32 + ty
    col = cuda.blockIdx.y * 32 + tx
    if row < B.shape[0] and col < B.shape[1]:
        B[row, col] = tile[tx, ty]
