# exercise: mirror_rows
# marked: right; style: flat thread number, early return, stores from the right, loads from the left
from numba import cuda


@cuda.jit
def mirror_rows(A, B):
    last = A.shape[1] - 1
    flat = cuda.threadIdx.x + 16 * cuda.threadIdx.y
    r = 16 * cuda.blockIdx.y + flat // 16
    gap = 16 * cuda.blockIdx.x + flat % 16
    if r >= A.shape[0] or gap > last:
        return
    B[r, last - gap] = A[r, gap]
