from numba import cuda, float32

TILE = 32
PADDED = 33


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    M, N = 64, 64
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    if row < M and col < N:  # <- wrong-bounds-check
        tile[ty, tx] = A[row, col]  # <- out-of-bounds-read
    cuda.syncthreads()
    out_row = cuda.blockIdx.x * TILE + ty
    out_col = cuda.blockIdx.y * TILE + tx
    if out_row < N and out_col < M:  # <- wrong-bounds-check
        B[out_row, out_col] = tile[tx, ty]  # <- out-of-bounds-write
