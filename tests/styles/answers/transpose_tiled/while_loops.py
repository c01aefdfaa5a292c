from numba import cuda, float32, int32

BLOCK = (32, 4)


@cuda.jit
def transpose_tiled(A, B):
    """A block of 32 x 4 threads, which passes its tile eight times."""
    tile = cuda.shared.array((32, 33), float32)
    tx = int32(cuda.threadIdx.x)
    left = cuda.blockIdx.x * int32(32)
    top = cuda.blockIdx.y * int32(32)
    y = int32(cuda.threadIdx.y)
    while y < 32:
        inside = top + y < A.shape[0] and left + tx < A.shape[1]
        if inside:
            tile[y, tx] = A[top + y, left + tx]
        y += cuda.blockDim.y
    cuda.syncthreads()
    y = int32(cuda.threadIdx.y)
    while y < 32:
        if left + y < A.shape[1] and top + tx < A.shape[0]:
            B[left + y, top + tx] = tile[tx, y]
        y += cuda.blockDim.y
