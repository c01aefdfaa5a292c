# exercise: matmul_column_major
# marked: right
from numba import cuda, float32


@cuda.jit(device=True)
def dot(A, B, i, j):
    s = float32(0)
    for k in range(A.shape[1]):
        s += A[i, k] * B[k, j]
    return s


@cuda.jit
def matmul_column_major(A, B, C):
    lane = cuda.threadIdx.x
    column = cuda.blockIdx.x * 8
    while lane >= 32:
        lane -= 32
        column += 1
    line = lane + cuda.blockIdx.y * 32
    if line >= C.shape[0]:
        return
    if column >= C.shape[1]:
        return
    C[line, column] = dot(A, B, line, column)
