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
    if top + ty < M and left + tx < N:
        tile[ty, tx] = A[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < N and top + tx < M:
        B[left + ty, top + tx] = tile[tx, ty]  # <- uninitialised-read
