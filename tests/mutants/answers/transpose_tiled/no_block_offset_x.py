from numba import cuda, float32


@cuda.jit
def transpose_tiled(A, B):
    """One extra column, so that the words of a column lie 33 apart."""
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = 0, cuda.blockIdx.y * 32  # <- wrong-index
    M, N = A.shape
    if top + ty < M and left + tx < N:
        tile[ty, tx] = A[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < N and top + tx < M:
        B[left + ty, top + tx] = tile[tx, ty]
