from numba import cuda

BLOCK = (64, 1)


@cuda.jit
def mat_add(A, B, C):
    width = C.shape[1]
    x = cuda.threadIdx.x + cuda.blockIdx.x * 64
    if x >= width: return
    C[cuda.blockIdx.y, x] = A[cuda.blockIdx.y, x] + B[cuda.blockIdx.y, x]
