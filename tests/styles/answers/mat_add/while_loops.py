from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    row = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    while row < len(C):
        col = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
        while col < C.shape[1]:
            C[row][col] = A[row][col] + B[row][col]
            col += cuda.gridDim.x * cuda.blockDim.x
        row += cuda.gridDim.y * cuda.blockDim.y
