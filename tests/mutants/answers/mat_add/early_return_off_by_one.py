from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    M, N = C.shape
    if row > M or col > N:  # <- wrong-bounds-check
        return
    C[row, col] = A[row, col] + B[row, col]
