import numpy as np
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    sums = cuda.shared.array((16, 16), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    top = cuda.blockIdx.y * 16
    left = cuda.blockIdx.x * 16
    acc = np.float32(0)
    if top + ty < C.shape[0] and left + tx < C.shape[1]:
        for k in range(A.shape[1]):
            acc += A[top + ty, k] * B[k, left + tx]
    sums[ty, tx] = acc
    cuda.syncthreads()
    if top + tx < C.shape[0] and left + ty < C.shape[1]:
        C[top + tx, left + ty] = sums[tx, ty]  # <- uncoalesced-store
