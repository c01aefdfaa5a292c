# exercise: matmul_column_major
# marked: wrong; cause: The sum of the even steps is stored twice and that of the odd steps is forgotten; code: accumulator-error|wrong-formula; lines: [16]
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    i = 32 * cuda.blockIdx.y + t % 32
    j = 8 * cuda.blockIdx.x + t // 32
    if i < C.shape[0] and j < C.shape[1]:
        evens = float32(0)
        odds = float32(0)
        for k in range(0, A.shape[1], 2):
            evens += A[i, k] * B[k, j]
        for k in range(1, A.shape[1], 2):
            odds += A[i, k] * B[k, j]
        C[i, j] = evens + evens
