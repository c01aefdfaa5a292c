# EXERCISE matmul_naive
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    x = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    y = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    if x < C.shape[1] and y < C.shape[0]:
        for k in range(A.shape[1]):
            s = float32(0)  # <- accumulator-error
            s += A[y, k] * B[k, x]
        C[y, x] = s
