from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    lane = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    row = cuda.blockIdx.y * cuda.blockDim.y + lane % cuda.blockDim.y
    col = cuda.blockIdx.x * cuda.blockDim.x + lane // cuda.blockDim.y
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] + B[row, col]  # <- uncoalesced-load
