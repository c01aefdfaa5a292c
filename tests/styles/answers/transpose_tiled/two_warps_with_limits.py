from numba import cuda, float32

PITCH = 33
BLOCK = (32, 2)


@cuda.jit
def transpose_tiled(A, B):
    """Two warps share a tile; whole blocks past the edge would leave together."""
    tile = cuda.shared.array((32, PITCH), float32)
    lane, half = cuda.threadIdx.x, cuda.threadIdx.y * 16
    left, top = 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
    if left >= A.shape[1] or top >= A.shape[0]:
        return
    rows, cols = min(32, A.shape[0] - top), min(32, A.shape[1] - left)
    if lane < cols:
        for r in range(half, min(half + 16, rows)):
            tile[r, lane] = A[top + r, left + lane]
    cuda.syncthreads()
    if lane < rows:
        for c in range(half, min(half + 16, cols)):
            B[left + c, top + lane] = tile[lane, c]
