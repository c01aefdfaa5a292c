from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    """Kahan's sum: the rounding error of each addition is carried along."""
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        s = float32(0)
        lost = float32(0)
        for k in range(A.shape[1]):
            y = A[i, k] * B[k, j] - lost
            t = s + y
            lost = (t - s) - y
            s = t
        C[i, j] = s
