# exercise: outer_product
# marked: wrong; cause: the two conditions of the guard are joined with or, so threads beyond one edge pass; code: wrong-bounds-check|out-of-bounds-read|out-of-bounds-write; lines: [8]
from numba import cuda


@cuda.jit
def outer_product(a, b, C):
    c, r = cuda.grid(2)
    height, width = C.shape
    inside = r < height or c < width
    if inside:
        C[r, c] = a[r] * b[c]
