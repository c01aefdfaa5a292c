# exercise: matmul_column_major
# marked: wrong; cause: The number of rows of A is taken for the length of the sum; code: wrong-loop-bound|out-of-bounds-read; lines: [10]
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    # column-major: the first axis is the fast one
    t = cuda.threadIdx.x
    col = cuda.blockIdx.x * 8 + t // 32
    row = cuda.blockIdx.y * 32 + t - t // 32 * 32
    K = A.shape[0]
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(K):
            total += A[row, k] * B[k, col]
        C[row, col] = total
