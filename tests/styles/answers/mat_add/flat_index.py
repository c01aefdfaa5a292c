from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    threads_in_row = cuda.gridDim.x * cuda.blockDim.x
    x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    flat = y * threads_in_row + x
    row, col = divmod(flat, threads_in_row)
    outside = row >= C.shape[0] or not col < C.shape[1]
    if not outside:
        C[row, col] = B[row, col] + A[row, col]
