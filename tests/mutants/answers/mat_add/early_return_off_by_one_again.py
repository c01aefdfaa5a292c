# EXERCISE mat_add
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    row = cuda.blockDim.y * cuda.blockIdx.y + cuda.threadIdx.y
    if row > C.shape[0] or col > C.shape[1]:  # <- wrong-bounds-check
        return
    C[row, col] = A[row, col] + B[row, col]
