# exercise: mat_add
# marked: wrong; cause: the early return lets the column just past the last one through (> where >= is needed); code: wrong-bounds-check|out-of-bounds-read|out-of-bounds-write; lines: [14]
from numba import cuda


@cuda.jit(device=True)
def plus(p, q):
    return p + q


@cuda.jit
def mat_add(A, B, C):
    rows, cols = C.shape
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i >= rows or j > cols:
        return
    C[i, j] = plus(A[i, j], B[i, j])
