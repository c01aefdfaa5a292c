# EXERCISE transpose_tiled
from numba import cuda, float32

CELLS = 1024  # <- out-of-bounds-write


@cuda.jit
def transpose_tiled(A, B):
    flat = cuda.shared.array(CELLS, float32)  # <- out-of-bounds-write
    col, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    M, N = A.shape
    value = float32(0)
    if row < M and col < N:
        value = A[row, col]
    flat[tx * 33 + ty] = value  # <- out-of-bounds-write
    cuda.syncthreads()
    out_row = cuda.blockIdx.x * 32 + ty
    out_col = cuda.blockIdx.y * 32 + tx
    if out_row < N and out_col < M:
        B[out_row, out_col] = flat[ty * 33 + tx]
