# exercise: mat_add
# marked: wrong; cause: The test leaves only columns above the width, so the column equal to the width is still touched; code: wrong-bounds-check|out-of-bounds-read|out-of-bounds-write; lines: [7]
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    col, row = cuda.grid(2)
    outside = row > A.shape[0] - 1 or col > A.shape[1]
    if not outside:
        C[row, col] = A[row, col] + B[row, col]
