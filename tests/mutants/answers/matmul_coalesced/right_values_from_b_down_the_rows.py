import numpy as np
from numba import cuda, float32


@cuda.jit
def matmul_coalesced(A, B, C):
    x = cuda.threadIdx.y
    y = cuda.threadIdx.x
    row = cuda.blockIdx.y * 16 + y
    col = cuda.blockIdx.x * 16 + x
    inside = row < C.shape[0] and col < C.shape[1]
    s = float32(0)
    k = 0
    while inside and k < A.shape[1]:
        s += A[row, k] * B[k, col]  # <- uncoalesced-load
        k += 1
    if inside:
        C[row, col] = s
