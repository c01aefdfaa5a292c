# exercise: matmul_naive
# marked: wrong; cause: The running sum is set to zero again in every step of the loop; code: accumulator-error; lines: [11]
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    x, y = cuda.grid(2)
    inner = A.shape[1]
    if y < C.shape[0] and x < C.shape[1]:
        k = 0
        while k < inner:
            acc = float32(0.0)
            acc += A[y, k] * B[k, x]
            k += 1
        C[y, x] = acc
