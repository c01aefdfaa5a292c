# exercise: four_by_two
# marked: wrong; cause: the steps of 4 and 2 are exchanged, so the thread's corner is that of a 2 x 4 piece; code: wrong-index|out-of-bounds-read|out-of-bounds-write; lines: [6, 7]
from numba import cuda, float32


@cuda.jit
def four_by_two(A, B, C):
    column = cuda.threadIdx.x * 4
    row = cuda.threadIdx.y * 2
    acc = cuda.local.array(8, float32)
    for n in range(8):
        acc[n] = 0
    k = 0
    while k < A.shape[0]:
        left, right = B[k, column], B[k, column + 1]
        for i in range(4):
            a = A[k, row + i]
            acc[2 * i] += a * left
            acc[2 * i + 1] += a * right
        k += 1
    for n in range(8):
        C[row + n // 2, column + n % 2] = acc[n]
