# EXERCISE transpose_tiled
from numba import cuda, float32

TILE = 32
PAD = 33


@cuda.jit
def transpose_tiled(A, B):
    t = cuda.shared.array((PAD, TILE), float32)  # <- bank-conflict
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    r0 = cuda.blockIdx.y * TILE
    c0 = cuda.blockIdx.x * TILE
    if r0 + i < A.shape[0] and c0 + j < A.shape[1]:
        t[j, i] = A[r0 + i, c0 + j]  # <- bank-conflict
    cuda.syncthreads()
    if c0 + i < B.shape[0] and r0 + j < B.shape[1]:
        B[c0 + i, r0 + j] = t[i, j]
