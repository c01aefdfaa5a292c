# exercise: matmul_column_major
# marked: wrong; cause: The pair that the helper gives back is unpacked in the wrong order, so quotient and remainder change places; code: wrong-index|incomplete-output; lines: [11]
from numba import cuda, float32


@cuda.jit(device=True)
def split(number, width):
    return number // width, number % width


@cuda.jit
def matmul_column_major(A, B, C):
    down, across = split(cuda.threadIdx.x, 32)
    down += cuda.blockIdx.y * 32
    across += cuda.blockIdx.x * 8
    if down < C.shape[0] and across < C.shape[1]:
        x = float32(0)
        k = 0
        while k < A.shape[1]:
            x += A[down, k] * B[k, across]
            k += 1
        C[down, across] = x
