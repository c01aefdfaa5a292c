import numpy as np
from numba import cuda

BLOCK = (32, 4)


@cuda.jit
def matmul_coalesced(A, B, C):
    """Two columns a thread, 32 apart, so that each access is still coalesced."""
    row = cuda.blockIdx.y * 4 + cuda.threadIdx.y
    if cuda.blockIdx.x % 2 == 1:
        return
    col = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    if row < C.shape[0]:
        one = np.float32(0)
        two = np.float32(0)
        for k in range(A.shape[1]):
            a = A[row, k]
            if col < C.shape[1]:
                one += a * B[k, col]
            if col + 32 < C.shape[1]:
                two += a * B[k, col + 32]
        if col < C.shape[1]:
            C[row, col] = one
        if col + 32 < C.shape[1]:
            C[row, col + 32] = two
