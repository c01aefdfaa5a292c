# EXERCISE matmul_naive
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    row = cuda.threadIdx.y  # <- wrong-index
    col = cuda.blockIdx.x * 16 + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
