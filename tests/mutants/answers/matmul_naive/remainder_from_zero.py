from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        K = A.shape[1]
        acc = float32(0)
        whole = K // 4
        for q in range(whole):
            k = 4 * q
            acc += A[row, k] * B[k, col]
            acc += A[row, k + 1] * B[k + 1, col]
            acc += A[row, k + 2] * B[k + 2, col]
            acc += A[row, k + 3] * B[k + 3, col]
        for k in range(K % 4):  # <- wrong-loop-bound, wrong-index
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
