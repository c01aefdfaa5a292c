# exercise: transposed_product
# marked: wrong; cause: cuda.grid gives x first, but here the row takes it; code: wrong-index|incomplete-output|uncoalesced-load; lines: [6]
from numba import cuda, float32


@cuda.jit
def transposed_product(A, B, C):
    row, column = cuda.grid(2)
    K = A.shape[0]
    if row < C.shape[0]:
        if column < C.shape[1]:
            total = float32(0)
            k = 0
            while k < K:
                total += A[k, row] * B[k, column]
                k += 1
            C[row, column] = total
