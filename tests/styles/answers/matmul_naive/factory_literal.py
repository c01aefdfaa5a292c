# EXERCISE matmul_naive
from numba import cuda, float32


def make(dtype):
    @cuda.jit
    def kernel(A, B, C):
        x, y = cuda.grid(2)
        if y < C.shape[0] and x < C.shape[1]:
            acc = dtype(0)
            for k in range(A.shape[1]):
                acc += A[y, k] * B[k, x]
            C[y, x] = acc

    return kernel


matmul_naive = make(float32)
