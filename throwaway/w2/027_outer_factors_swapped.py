# exercise: outer_product
# marked: wrong; cause: the column picks from a and the row from b, although a belongs to the rows; code: wrong-index|out-of-bounds-read; lines: [12]
from numba import cuda


@cuda.jit
def outer_product(a, b, C):
    x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    y = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    if x >= C.shape[1]:
        return
    if y >= C.shape[0]:
        return
    C[y, x] = a[x] * b[y]
