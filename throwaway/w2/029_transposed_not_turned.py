# exercise: transposed_product
# marked: wrong; cause: A is read as in the ordinary product, at [row, k] instead of [k, row]; code: wrong-index|out-of-bounds-read; lines: [11]
from numba import cuda, float32


@cuda.jit
def transposed_product(A, B, C):
    j, i = cuda.grid(2)
    if i >= C.shape[0] or j >= C.shape[1]:
        return
    s = float32(0)
    for k in range(B.shape[0]):
        s += A[i, k] * B[k, j]
    C[i, j] = s
