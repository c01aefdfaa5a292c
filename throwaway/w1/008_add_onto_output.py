# exercise: mat_add
# marked: wrong; cause: The sum is added to what C happens to hold instead of being stored there; code: uninitialised-read|accumulator-error; lines: [12]
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    j, i = cuda.grid(2)
    m, n = C.shape
    if not (i < m and j < n):
        return
    s = A[i, j]
    s += B[i, j]
    C[i, j] += s
