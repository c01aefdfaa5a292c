# exercise: mat_add
# marked: right
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    # number the elements, then go back to row and column
    x, y = cuda.grid(2)
    width = C.shape[1]
    if x < width:
        number = y * width + x
        if number < C.size:
            C[number // width, number % width] = A[number // width, number % width] + B[number // width, number % width]
