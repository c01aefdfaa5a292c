from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col = cuda.blockIdx.x * cuda.gridDim.x + cuda.threadIdx.x  # <- wrong-index
    row = cuda.blockIdx.y * cuda.gridDim.y + cuda.threadIdx.y  # <- wrong-index
    M, N = C.shape
    if row >= M or col >= N:
        return
    C[row, col] = A[row, col] + B[row, col]
