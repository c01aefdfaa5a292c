# exercise: rows_with_rows
# marked: wrong; cause: the result is stored at [column, row]; code: wrong-index|out-of-bounds-write; lines: [15]
from numba import cuda, float32


@cuda.jit
def rows_with_rows(A, B, C):
    j = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    i = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    if i >= A.shape[0] or j >= B.shape[0]:
        return
    s = float32(0)
    k = 0
    while k < A.shape[1]:
        s += A[i, k] * B[j, k]
        k = k + 1
    C[j, i] = s
