# exercise: mat_add
# marked: wrong; cause: The two lengths of the shape are unpacked in exchanged order, so each index is compared with the other's length; code: wrong-bounds-check|wrong-index|out-of-bounds-read; lines: [8]
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    c = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    r = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    ncols, nrows = A.shape
    if r < nrows:
        if c < ncols:
            C[r, c] = A[r, c] + B[r, c]
