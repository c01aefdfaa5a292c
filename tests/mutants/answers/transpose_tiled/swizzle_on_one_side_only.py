from numba import cuda, float32

TILE = 32


@cuda.jit
def transpose_tiled(A, B):
    tile = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    M, N = A.shape
    left = cuda.blockIdx.x * TILE
    top = cuda.blockIdx.y * TILE
    if top + ty < M and left + tx < N:
        tile[ty, tx] = A[top + ty, left + tx]  # <- wrong-index
    cuda.syncthreads()
    if left + ty < N and top + tx < M:
        B[left + ty, top + tx] = tile[tx, ty ^ tx]  # <- wrong-index
