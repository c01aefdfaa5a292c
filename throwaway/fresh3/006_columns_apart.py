# exercise: matmul_column_major
# marked: wrong; cause: the columns of the blocks begin 32 apart where a block has only 8 columns; code: wrong-index|incomplete-output; lines: [10]
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    lane = t & 31
    warp = t >> 5
    r = 32 * cuda.blockIdx.y + lane
    c = 32 * cuda.blockIdx.x + warp
    if r >= C.shape[0] or c >= C.shape[1]:
        return
    acc = float32(0)
    for k in range(B.shape[0]):
        acc += A[r, k] * B[k, c]
    C[r, c] = acc
