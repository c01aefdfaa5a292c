from numba import cuda, float32

THREADS = 256
BLOCK = (THREADS,)


@cuda.jit
def transpose_tiled(A, B):
    """A flat block: each thread works out its lane and its row itself."""
    tile = cuda.shared.array((32, 33), float32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    first_row, first_col = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    M, N = A.shape
    for k in range(4):
        r = warp + 8 * k
        if first_row + r < M and first_col + lane < N:
            tile[r, lane] = A[first_row + r, first_col + lane]
    cuda.syncthreads()
    for k in range(4):
        r = warp + 8 * k
        if first_col + r < N and first_row + lane < M:
            B[first_col + r, first_row + lane] = tile[lane, r]
