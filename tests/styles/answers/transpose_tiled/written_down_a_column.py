from numba import cuda, float32

WIDE = 33


@cuda.jit
def transpose_tiled(A, B):
    """The tile is transposed when it is filled; then rows are read as they lie."""
    tile = cuda.shared.array((32, WIDE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    bx, by = cuda.blockIdx.x, cuda.blockIdx.y
    tile[tx, ty] = (
        A[by * 32 + ty, bx * 32 + tx]
        if by * 32 + ty < A.shape[0] and bx * 32 + tx < A.shape[1]
        else float32(0)
    )
    cuda.syncthreads()
    if bx * 32 + ty < B.shape[0] and by * 32 + tx < B.shape[1]:
        B[bx * 32 + ty, by * 32 + tx] = tile[ty, tx]
