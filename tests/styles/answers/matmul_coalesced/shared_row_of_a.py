import numpy as np
from numba import cuda, float32

BLOCK = (128, 1)


@cuda.jit
def matmul_coalesced(A, B, C):
    """One row of A is staged in pieces of 128."""
    piece = cuda.shared.array(128, float32)
    x = cuda.threadIdx.x
    row, col = cuda.blockIdx.y, cuda.blockIdx.x * 128 + x
    acc = np.float32(0)
    for start in range(0, A.shape[1], 128):
        if start + x < A.shape[1]:
            piece[x] = A[row, start + x]
        cuda.syncthreads()
        if col < C.shape[1]:
            for k in range(min(128, A.shape[1] - start)):
                acc += piece[k] * B[start + k, col]
        cuda.syncthreads()
    if col < C.shape[1]:
        C[row, col] = acc
