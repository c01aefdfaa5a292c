# EXERCISE matmul_naive
from numba import cuda, float32


@cuda.jit(device=True)
def dot(A, B, r, c):
    s = float32(0)
    for p in range(B.shape[0]):
        s = s + A[r, p] * B[p, c]
        return s  # <- wrong-loop-bound, accumulator-error, wrong-formula
    return s


@cuda.jit
def matmul_naive(A, B, C):
    c, r = cuda.grid(2)
    height, width = C.shape
    if not (r < height and c < width):
        return
    C[r, c] = dot(A, B, r, c)
