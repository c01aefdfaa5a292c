from numba import cuda

BLOCK = (128, 1)


@cuda.jit
def mat_add(A, B, C):
    i = cuda.blockIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if j < C.shape[1]:
        C[i, j] = A[i, j]
        C[i, j] += B[i, j]
