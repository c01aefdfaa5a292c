# EXERCISE matmul_coalesced
from numba import cuda, float32


def build():
    @cuda.jit(device=True)
    def madd(s, a, b):
        return s + a * b

    @cuda.jit
    def kernel(A, B, C):
        j, i = cuda.grid(2)
        if i < C.shape[0] and j < C.shape[1]:
            s = float32(0)
            for k in range(A.shape[1]):
                s = madd(s, A[i, k], B[k, j])
            C[i, j] = s

    return kernel


matmul_coalesced = build()
