# EXERCISE mat_add
from numba import cuda

BLOCK = 32


@cuda.jit
def mat_add(A, B, C):
    col = cuda.blockIdx.x * BLOCK + cuda.threadIdx.x  # <- wrong-index
    row = cuda.blockIdx.y * BLOCK + cuda.threadIdx.y  # <- wrong-index
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] + B[row, col]
