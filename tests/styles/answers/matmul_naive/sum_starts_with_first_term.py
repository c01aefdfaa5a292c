from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    x, y = cuda.grid(2)
    if y < len(A) and x < B.shape[1]:
        acc = A[y, 0] * B[0, x]
        for k in range(1, B.shape[0]):
            acc = acc + A[y, k] * B[k, x]
        C[y, x] = acc
