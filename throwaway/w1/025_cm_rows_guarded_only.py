# exercise: matmul_column_major
# marked: wrong; cause: Only the row is compared with the shape, so threads past the last column read B and write C outside; code: wrong-bounds-check|out-of-bounds-read|out-of-bounds-write; lines: [11]
from numba import cuda, float32


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    w = t // 32
    lane = t - 32 * w
    row = cuda.blockIdx.y * 32 + lane
    col = cuda.blockIdx.x * 8 + w
    if row >= C.shape[0]:
        return
    total = float32(0)
    for k in range(A.shape[1]):
        total += A[row, k] * B[k, col]
    C[row, col] = total
