from numba import cuda, float32

TILE = 32
PITCH = TILE + 1
CELLS = TILE * PITCH


@cuda.jit
def transpose_tiled(A, B):
    """A tile with one axis; the pitch is the length of a row."""
    tile = cuda.shared.array(CELLS, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col = cuda.blockIdx.x * TILE + tx
    row = cuda.blockIdx.y * TILE + ty
    if row < A.shape[0] and col < A.shape[1]:
        tile[ty * PITCH + tx] = A[row, col]
    cuda.syncthreads()
    col = cuda.blockIdx.y * TILE + tx
    row = cuda.blockIdx.x * TILE + ty
    if row < B.shape[0] and col < B.shape[1]:
        B[row, col] = tile[tx * PITCH + ty]
