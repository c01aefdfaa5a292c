from numba import cuda, float32


@cuda.jit
def transpose_tiled(A, B):
    """B.T is another view of B: writing row, column of it is writing column, row of B."""
    tile = cuda.shared.array((32, 35), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    if top + ty < A.shape[0] and left + tx < A.shape[1]:
        tile[ty][tx] = A[top + ty][left + tx]
    cuda.syncthreads()
    Bt = B.T
    if top + tx < Bt.shape[0] and left + ty < Bt.shape[1]:
        Bt[top + tx, left + ty] = tile[tx][ty]
