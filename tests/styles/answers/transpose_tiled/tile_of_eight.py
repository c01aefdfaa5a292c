from numba import cuda, float32

TILE = 8


@cuda.jit
def transpose_tiled(A, B):
    """Tiles of 8 x 8: a warp is four rows of threads, so three bits of XOR are enough."""
    tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    if top + ty < A.shape[0] and left + tx < A.shape[1]:
        tile[ty, tx ^ ty] = A[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < A.shape[1] and top + tx < A.shape[0]:
        B[left + ty, top + tx] = tile[tx, ty ^ tx]
