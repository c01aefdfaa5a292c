from numba import cuda


@cuda.jit
def transpose_tiled(A, B):
    row = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    col = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    M, N = A.shape
    if row < M and col < N:
        B[col, row] = A[row, col]  # <- uncoalesced-load
