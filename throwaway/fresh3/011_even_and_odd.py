# exercise: matmul_column_major
# marked: right; style: two partial sums for even and odd k, the tail apart, nested guards
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    depth = A.shape[1]
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.x % 32
    col = cuda.blockIdx.x * 8 + cuda.threadIdx.x // 32
    if row < C.shape[0]:
        if col < C.shape[1]:
            even = float32(0)
            odd = float32(0)
            k = 0
            while k + 1 < depth:
                even += A[row, k] * B[k, col]
                odd += A[row, k + 1] * B[k + 1, col]
                k += 2
            if k < depth:
                even += A[row, k] * B[k, col]
            C[row, col] = even + odd
