from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    if cuda.blockIdx.x * TILE >= C.shape[1] or cuda.blockIdx.y * TILE >= C.shape[0]:
        return
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    tiles, rest = divmod(A.shape[1], TILE)
    for t in range(tiles + (1 if rest > 0 else 0)):
        ka, kb = t * TILE + tx, t * TILE + ty
        sA[ty, tx] = 0 if row >= A.shape[0] or ka >= A.shape[1] else A[row, ka]
        sB[ty, tx] = 0 if kb >= B.shape[0] or col >= B.shape[1] else B[kb, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
