from numba import cuda, float32

TILE = 32
PADDED = 33
BLOCK = (32, 8)
ROWS = 8


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, PADDED), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    M, N = A.shape
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    for i in range(0, TILE, ROWS):
        if top + ty + i < M and left + tx < N:  # <- barrier-divergence
            tile[ty + i, tx] = A[top + ty + i, left + tx]
            cuda.syncthreads()  # <- barrier-divergence
    for i in range(0, TILE, ROWS):
        if left + ty + i < N and top + tx < M:
            B[left + ty + i, top + tx] = tile[tx, ty + i]
