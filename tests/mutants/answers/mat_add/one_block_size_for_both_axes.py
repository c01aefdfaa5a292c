from numba import cuda

BLOCK = (32, 8)


@cuda.jit
def mat_add(A, B, C):
    col = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    row = cuda.blockIdx.y * 32 + cuda.threadIdx.y  # <- wrong-index
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] + B[row, col]
