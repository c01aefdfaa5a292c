# EXERCISE matmul_coalesced
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    K = A.shape[1]
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(0, K, 2):  # <- wrong-loop-bound, out-of-bounds-read
            total += A[row, k] * B[k, col]
            total += A[row, k + 1] * B[k + 1, col]  # <- out-of-bounds-read, wrong-loop-bound
        C[row, col] = total
