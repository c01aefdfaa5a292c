# EXERCISE mat_add
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    r = cuda.blockIdx.y * cuda.blockDim.y + ty
    c = tx  # <- wrong-index
    if r < A.shape[0] and c < A.shape[1]:
        C[r, c] = A[r, c] + B[r, c]
