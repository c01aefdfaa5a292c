# EXERCISE transpose_tiled
import numpy as np
from numba import cuda


@cuda.jit
def transpose_tiled(A, B):
    patch = cuda.shared.array((32, 32), np.float32)
    i = cuda.threadIdx.y
    j = cuda.threadIdx.x
    down = cuda.blockIdx.y * cuda.blockDim.y
    across = cuda.blockIdx.x * cuda.blockDim.x
    height, width = A.shape
    if down + i < height:
        if across + j < width:
            patch[i, i + j] = A[down + i, across + j]  # <- out-of-bounds-write, wrong-index
    cuda.syncthreads()
    if across + i >= width:
        return
    if down + j >= height:
        return
    B[across + i, down + j] = patch[j, i + j]
