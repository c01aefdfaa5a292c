from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    j, i = cuda.grid(2)
    if not (i < C.shape[0] and j < C.shape[1]):
        return
    s = float32(0)
    for k in range(A.shape[1]):
        s = cuda.fma(A[i, k], B[k, j], s)
    C[i, j] = s
