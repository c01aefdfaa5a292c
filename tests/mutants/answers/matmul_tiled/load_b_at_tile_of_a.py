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
        k = t * TILE + tx
        sA[ty, tx] = A[row, k] if row < M and k < K else float32(0)
        sB[ty, tx] = B[k, col] if k < K and col < N else float32(0)  # <- wrong-index
        cuda.syncthreads()
        for p in range(TILE):
            acc += sA[ty, p] * sB[p, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
