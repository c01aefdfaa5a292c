# exercise: grid_stride
# marked: right
import numba
from numba import cuda


@cuda.jit
def grid_stride(source, result):
    n = source.shape[0]
    workers = cuda.gridDim.x * cuda.blockDim.x
    piece = (n + workers - 1) // workers
    k = cuda.grid(1) * piece
    end = min(k + piece, n)
    while k < end:
        value = source[k]
        result[k] = value + value
        k += 1
