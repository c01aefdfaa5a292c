from numba import cuda, float32

TILE = 32


@cuda.jit(device=True)
def swizzled(row, column):
    return row * TILE + (column ^ row)


@cuda.jit
def transpose_tiled(A, B):
    """The swizzle in a function of its own, on a flat tile."""
    tile = cuda.shared.array(1024, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
    if top + ty < A.shape[0] and left + tx < A.shape[1]:
        tile[swizzled(ty, tx)] = A[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < A.shape[1] and top + tx < A.shape[0]:
        B[left + ty, top + tx] = tile[swizzled(tx, ty)]
