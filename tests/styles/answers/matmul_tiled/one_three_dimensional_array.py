from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul_tiled(A, B, C):
    """Both tiles in one three-dimensional array."""
    tiles = cuda.shared.array((2, TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    steps = -(-A.shape[1] // TILE)
    for t in range(steps):
        ka = t * TILE + tx
        kb = t * TILE + ty
        tiles[0, ty, tx] = 0
        if row < A.shape[0] and ka < A.shape[1]:
            tiles[0, ty, tx] = A[row, ka]
        tiles[1, ty, tx] = 0
        if kb < B.shape[0] and col < B.shape[1]:
            tiles[1, ty, tx] = B[kb, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += tiles[0, ty, k] * tiles[1, k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc
