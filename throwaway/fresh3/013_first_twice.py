# exercise: matmul_naive
# marked: wrong; cause: the sum starts with the product of k = 0 and the loop adds that product again; code: accumulator-error|wrong-loop-bound; lines: [11, 12]
from numba import cuda


@cuda.jit
def matmul_naive(A, B, C):
    n, m = cuda.grid(2)
    if m >= C.shape[0]:
        return
    if n >= C.shape[1]:
        return
    dot = A[m, 0] * B[0, n]
    for p in range(A.shape[1]):
        dot += A[m, p] * B[p, n]
    C[m, n] = dot
