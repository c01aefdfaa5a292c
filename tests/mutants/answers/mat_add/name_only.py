# EXERCISE mat_add
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    rows, cols = C.shape
    if row >= rows or col >= cols:
        return
    C = A[row, col] + B[row, col]  # <- missing-answer, incomplete-output
