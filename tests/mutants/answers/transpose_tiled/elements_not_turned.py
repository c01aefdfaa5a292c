# EXERCISE transpose_tiled
from numba import cuda, float32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = 32 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    inside = top + ty < A.shape[0] and left + tx < A.shape[1]
    if inside:
        tile[ty, tx] = A[top + ty, left + tx]
    cuda.syncthreads()
    if inside:
        B[left + tx, top + ty] = tile[ty, tx]  # <- uncoalesced-store
