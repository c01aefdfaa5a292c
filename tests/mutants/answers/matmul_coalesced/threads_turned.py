# EXERCISE matmul_coalesced
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    row = cuda.blockIdx.y * 16 + cuda.threadIdx.x  # <- uncoalesced-load, uncoalesced-store
    col = cuda.blockIdx.x * 16 + cuda.threadIdx.y  # <- uncoalesced-load, uncoalesced-store
    if row < C.shape[0] and col < C.shape[1]:
        total = float32(0)
        for k in range(A.shape[1]):
            total += A[row, k] * B[k, col]  # <- uncoalesced-load
        C[row, col] = total  # <- uncoalesced-store
