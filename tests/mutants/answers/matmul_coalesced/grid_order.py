# EXERCISE matmul_coalesced
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    row, col = cuda.grid(2)  # <- wrong-index, incomplete-output, uncoalesced-load, uncoalesced-store
    if row >= C.shape[0] or col >= C.shape[1]:
        return
    total = float32(0)
    for k in range(B.shape[0]):
        total += A[row, k] * B[k, col]
    C[row, col] = total
