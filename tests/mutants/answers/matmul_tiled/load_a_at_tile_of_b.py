from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    sB = cuda.shared.array(shape=(TILE, TILE), dtype=float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    M, K = A.shape
    N = B.shape[1]
    acc = float32(0)
    for t in range(-(-K // TILE)):
        step = ty + t * TILE
        sA[ty, tx] = A[row, step] if row < M and step < K else float32(0)  # <- wrong-index
        sB[ty, tx] = B[step, col] if step < K and col < N else float32(0)
        cuda.syncthreads()
        for p in range(TILE):
            acc += sA[ty, p] * sB[p, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
