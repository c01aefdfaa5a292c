# exercise: mat_add
# marked: wrong; cause: The early return needs both indices to be outside, so a thread that is outside in one direction only goes on; code: wrong-bounds-check|out-of-bounds-read|out-of-bounds-write; lines: [10]
from numba import cuda


@cuda.jit
def mat_add(A, B, C):
    j, i = cuda.grid(2)
    height = C.shape[0]
    width = C.shape[1]
    # threads with nothing to do leave
    if i >= height and j >= width:
        return
    C[i, j] = A[i, j] + B[i, j]
