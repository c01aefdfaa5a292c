from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0]:
        if col < C.shape[1]:
            acc = float32(0)
            for k in range(A.shape[1] - 1, -1, -1):
                a, b = A[row, k], B[k, col]
                acc += a * b
            C[row, col] = acc
