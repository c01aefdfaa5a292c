from numba import cuda, float32

TILE = 32
PITCH = 33


@cuda.jit
def transpose_tiled(A, B):
    """Whole tiles go without a test; a branch that the whole block takes alike."""
    tile = cuda.shared.array((TILE, PITCH), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    M, N = A.shape
    if top + TILE <= M and left + TILE <= N:
        tile[ty, tx] = A[top + ty, left + tx]
        cuda.syncthreads()
        B[left + ty, top + tx] = tile[tx, ty]
        return
    if top + ty < M and left + tx < N:
        tile[ty, tx] = A[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < N and top + tx < M:
        B[left + ty, top + tx] = tile[tx, ty]
