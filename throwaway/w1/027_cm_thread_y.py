# exercise: matmul_column_major
# marked: wrong; cause: The column is taken from threadIdx.y, which is always 0 in a block of 256 threads in x; code: wrong-index|incomplete-output; lines: [7]
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.x % 32
    col = cuda.blockIdx.x * 8 + cuda.threadIdx.y
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]
        C[row, col] = total
