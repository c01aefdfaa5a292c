# EXERCISE matmul_coalesced
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    K = A.shape[1]
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for q in range(K // 4):
            k = 4 * q
            total += A[row, k] * B[k, col]
            total += A[row, k + 1] * B[k + 1, col]
            total += A[row, k + 2] * B[k + 2, col]
            total += A[row, k + 3] * B[k + 3, col]
        for k in range(K % 4):  # <- wrong-loop-bound
            total += A[row, k] * B[k, col]
        C[row, col] = total
