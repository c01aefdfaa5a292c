# exercise: naive_by_rows
# marked: wrong; cause: the product replaces the sum in each step instead of being added to it; code: accumulator-error; lines: [14]
from numba import cuda, float32


@cuda.jit
def naive_by_rows(A, B, C):
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    column = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    M, K = A.shape
    N = B.shape[1]
    acc = float32(0)
    if row < M:
        if column < N:
            for k in range(K):
                acc = A[row, k] * B[k, column]
            C[row, column] = acc
