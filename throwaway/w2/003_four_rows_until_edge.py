# exercise: four_rows_each
# marked: right
from numba import cuda


@cuda.jit
def four_rows_each(A, out):
    c = cuda.grid(1)
    top = 32 * cuda.blockIdx.y
    bottom = min(top + 32, A.shape[0])
    r = top + cuda.threadIdx.y
    while r < bottom:
        if c >= A.shape[1]:
            break
        twice = A[r, c]
        twice += A[r, c]
        out[r, c] = twice
        r += 8
