# EXERCISE matmul_coalesced
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = tx + cuda.blockIdx.x * 16
    row = ty + cuda.blockIdx.y * 16
    K = A.shape[1]
    if col < B.shape[1] and row < A.shape[0]:
        val = float32(0)
        for k in range(K):
            val += A[k, row] * B[k, col]  # <- wrong-index
        C[row, col] = val
