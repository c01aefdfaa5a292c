# EXERCISE matmul_coalesced
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    col, row = cuda.grid(2)
    K = A.shape[1]
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        k = 0
        while k + 4 <= K:  # <- wrong-loop-bound
            for u in range(4):
                total += A[row, k + u] * B[k + u, col]
            k += 4
        C[row, col] = total
