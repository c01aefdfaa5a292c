from numba import cuda, float32

TILE = 32
PADDED = 33


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    M, N = A.shape
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    if row < M and col < N:  # <- barrier-divergence
        tile[ty, tx] = A[row, col]
        cuda.syncthreads()  # <- barrier-divergence
    out_row = cuda.blockIdx.x * TILE + ty
    out_col = cuda.blockIdx.y * TILE + tx
    if out_row < N and out_col < M:
        B[out_row, out_col] = tile[tx, ty]
