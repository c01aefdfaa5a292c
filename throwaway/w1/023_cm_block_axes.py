# exercise: matmul_column_major
# marked: wrong; cause: The start of the block's part takes blockIdx.x for the rows and blockIdx.y for the columns; code: wrong-index|incomplete-output; lines: [7, 8]
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    tid = cuda.threadIdx.x
    top = cuda.blockIdx.x * 32
    left = cuda.blockIdx.y * 8
    lane = tid & 31
    warp = tid >> 5
    row, col = top + lane, left + warp
    if row < C.shape[0]:
        if col < C.shape[1]:
            acc = float32(0)
            for k in range(B.shape[0]):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc
