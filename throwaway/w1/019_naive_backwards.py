# exercise: matmul_naive
# marked: right
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    rows, inner, cols = A.shape[0], A.shape[1], B.shape[1]
    col, row = cuda.grid(2)
    if not (row < rows and col < cols):
        return
    total = float32(0)
    for back in range(inner - 1, -1, -1):
        total = A[row, back] * B[back, col] + total
    C[row, col] = total
