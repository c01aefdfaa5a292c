# EXERCISE matmul_coalesced
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    M, N = C.shape
    K = B.shape[0]
    if row >= M or col >= N:
        return
    even = float32(0)
    odd = A[row, 0] * B[0, col]  # <- accumulator-error
    for k in range(0, K, 2):
        even += A[row, k] * B[k, col]
        if k + 1 < K:
            odd += A[row, k + 1] * B[k + 1, col]
    C[row, col] = even + odd
