# exercise: matmul_naive
# marked: wrong; cause: The loop counts from 1 to K minus 1 and so leaves out the first product; code: wrong-loop-bound; lines: [13]
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    c = cuda.blockDim.x * cuda.blockIdx.x + cuda.threadIdx.x
    r = cuda.blockDim.y * cuda.blockIdx.y + cuda.threadIdx.y
    M, N = C.shape
    K = B.shape[0]
    if r < M:
        if c < N:
            total = float32(0)
            for k in range(1, K):
                total += A[r, k] * B[k, c]
            C[r, c] = total
