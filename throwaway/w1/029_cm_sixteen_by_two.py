# exercise: matmul_column_major
# marked: right
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    # each warp takes 16 rows of 2 columns
    t = cuda.threadIdx.x
    warp = t >> 5
    lane = t & 31
    row = 32 * cuda.blockIdx.y + 16 * (warp & 1) + (lane & 15)
    col = 8 * cuda.blockIdx.x + 2 * (warp >> 1) + (lane >> 4)
    rows, cols = C.shape
    if row < rows and col < cols:
        acc = float32(0)
        k = B.shape[0]
        while k:
            k -= 1
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
