from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        K = A.shape[1]
        acc = float32(0)
        k = 0
        while k + 1 < K:
            acc += A[row, k] * B[k, col] + A[row, k + 1] * B[k + 1, col]
            k += 2
        for k in range(0, K % 2):  # <- wrong-loop-bound, wrong-index
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
