# exercise: matmul_column_major
# marked: wrong; cause: The column within the block is a remainder by 8 where it should be the quotient by 32, so most of the block's elements have no thread; code: wrong-index|incomplete-output|race-write-after-write; lines: [11]
from numba import cuda, float32

ROWS = 32
COLS = 8


@cuda.jit
def matmul_column_major(A, B, C):
    t = cuda.threadIdx.x
    r = t % ROWS + ROWS * cuda.blockIdx.y
    c = t % COLS + COLS * cuda.blockIdx.x
    M, N = C.shape
    if r >= M or c >= N:
        return
    total = float32(0)
    k = 0
    while k != A.shape[1]:
        total += A[r, k] * B[k, c]
        k += 1
    C[r, c] = total
