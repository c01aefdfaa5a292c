# exercise: column_sums
# marked: right
from numba import cuda, float32


@cuda.jit
def column_sums(A, y):
    c = cuda.grid(1)
    if c < A.shape[1]:
        even, odd = float32(0), float32(0)
        half = A.shape[0] // 2
        for p in range(half):
            even += A[2 * p, c]
            odd += A[2 * p + 1, c]
        if A.shape[0] % 2 == 1:
            even += A[A.shape[0] - 1, c]
        y[c] = even + odd
