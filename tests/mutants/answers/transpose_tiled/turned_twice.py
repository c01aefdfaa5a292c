# EXERCISE transpose_tiled
from numba import cuda, float32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    tile[tx, ty] = float32(0)  # <- wrong-index
    if top + ty < A.shape[0] and left + tx < A.shape[1]:
        tile[tx, ty] = A[top + ty, left + tx]  # <- wrong-index
    cuda.syncthreads()
    if left + ty < B.shape[0] and top + tx < B.shape[1]:
        B[left + ty, top + tx] = tile[tx, ty]  # <- wrong-index
