# exercise: transpose_tiled
# marked: right
from numba import cuda, float32

TILE = 32
CELLS = 1056  # 32 rows of 33


@cuda.jit
def transpose_tiled(A, B):
    cells = cuda.shared.array(CELLS, float32)
    lane = cuda.threadIdx.x
    line = cuda.threadIdx.y
    j0, i0 = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    i = i0 + line
    j = j0 + lane
    if not (i >= A.shape[0] or j >= A.shape[1]):
        cells[33 * line + lane] = A[i, j]
    cuda.syncthreads()
    if line < A.shape[1] - j0:
        if lane < A.shape[0] - i0:
            B[j0 + line, i0 + lane] = cells[33 * lane + line]
