from numba import cuda, float32

TILE = 32


@cuda.jit
def transpose_tiled(A, B):
    """Each row of the tile is rotated by its number: a swizzle by addition."""
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    M, N = A.shape
    if top + ty < M and left + tx < N:
        tile[ty, (tx + ty) % TILE] = A[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < N and top + tx < M:
        B[left + ty, top + tx] = tile[tx, (ty + tx) % TILE]
