# EXERCISE mat_add
from numba import cuda

BLOCK = 16


@cuda.jit
def mat_add(A, B, C):
    tid = cuda.threadIdx.y * BLOCK + cuda.threadIdx.x
    row = cuda.blockIdx.y * BLOCK + tid // BLOCK
    col = cuda.blockIdx.x * BLOCK + tid % BLOCK
    if row < A.shape[0] and col < A.shape[1]:
        C[row, col] = A[row, col] + B[row, col]
