# exercise: matmul_naive
# marked: wrong; cause: The loop takes two products at a time and reads past the end when K is odd; code: out-of-bounds-read|wrong-loop-bound|wrong-bounds-check; lines: [12, 14]
from numba import cuda, float32


@cuda.jit
def matmul_naive(A, B, C):
    """two products per step"""
    j, i = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        even = float32(0)
        odd = float32(0)
        k = 0
        while k < A.shape[1]:
            even += A[i, k] * B[k, j]
            odd += A[i, k + 1] * B[k + 1, j]
            k += 2
        C[i, j] = even + odd
