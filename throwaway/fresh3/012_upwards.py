# exercise: column_sums
# marked: right; style: walks from the bottom row up, takes turns between two sums
from numba import cuda, float32


@cuda.jit
def column_sums(A, y):
    c = cuda.grid(1)
    if c >= y.shape[0]:
        return
    now, other = float32(0), float32(0)
    for r in range(A.shape[0] - 1, -1, -1):
        now, other = other, now + A[r, c]
    y[c] = now + other
