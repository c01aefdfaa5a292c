# exercise: outer_product
# marked: right
from numba import cuda


@cuda.jit
def outer_product(a, b, C):
    x, y = cuda.grid(2)
    width, height = cuda.gridsize(2)
    cells = a.size * b.size
    number = y * width + x          # this thread among all threads
    while number < cells:
        r = number // b.size
        c = number - r * b.size
        C[r, c] = a[r] * b[c]
        number += width * height
