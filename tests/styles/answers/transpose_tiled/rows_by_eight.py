from numba import cuda, float32

TILE = 32
BLOCK = (32, 8)
PITCH = 33


@cuda.jit
def transpose_tiled(A, B):
    """Each thread moves four elements: its column of every eighth row."""
    tile = cuda.shared.array((TILE, PITCH), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    for y in range(ty, TILE, 8):
        if top + y < A.shape[0] and left + tx < A.shape[1]:
            tile[y, tx] = A[top + y, left + tx]
    cuda.syncthreads()
    for y in range(ty, TILE, 8):
        if left + y < B.shape[0] and top + tx < B.shape[1]:
            B[left + y, top + tx] = tile[tx, y]
