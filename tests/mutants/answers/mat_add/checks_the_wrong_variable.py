from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    rows, cols = A.shape
    if x < rows:  # <- wrong-bounds-check
        if y < cols:  # <- wrong-bounds-check
            C[y, x] = A[y, x] + B[y, x]
