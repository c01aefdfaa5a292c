# exercise: mat_add
# marked: wrong; cause: The column is computed as if a block were 32 threads wide, but it has 16; code: wrong-index|incomplete-output; lines: [9]
from numba import cuda

WIDE = 32
HIGH = 16


@cuda.jit
def mat_add(A, B, C):
    x = WIDE * cuda.blockIdx.x + cuda.threadIdx.x
    y = HIGH * cuda.blockIdx.y + cuda.threadIdx.y
    rows, cols = C.shape
    if x >= cols:
        return
    if y >= rows:
        return
    C[y, x] = A[y, x] + B[y, x]
