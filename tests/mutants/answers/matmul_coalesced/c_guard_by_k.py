# EXERCISE matmul_coalesced
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    rows, cols = A.shape
    if i < rows and j < cols:  # <- wrong-bounds-check
        s = float32(0)
        for p in range(cols):
            s += A[i, p] * B[p, j]
        C[i, j] = s
