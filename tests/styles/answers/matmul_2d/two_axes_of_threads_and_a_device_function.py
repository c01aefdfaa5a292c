import numpy as np
from numba import cuda, float32

BLOCK = (16, 16)


@cuda.jit(device=True)
def element(X, row, col):
    if row < X.shape[0] and col < X.shape[1]:
        return X[row, col]
    return float32(0)


@cuda.jit
def matmul_2d(A, B, C):
    sA = cuda.shared.array((8, 64), float32)
    sB = cuda.shared.array((8, 64), float32)
    acc = cuda.local.array((4, 4), float32)
    b = cuda.local.array(4, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    flat = ty * 16 + tx
    top, left = 64 * cuda.blockIdx.y, 64 * cuda.blockIdx.x
    for i in range(4):
        for j in range(4):
            acc[i, j] = 0
    for k0 in range(0, A.shape[1], 8):
        for n in (flat, flat + 256):
            sA[n % 8, n // 8] = element(A, top + n // 8, k0 + n % 8)
            sB[n // 64, n % 64] = element(B, k0 + n // 64, left + n % 64)
        cuda.syncthreads()
        for k in range(8):
            for j in range(4):
                b[j] = sB[k, tx + 16 * j]
            for i in range(4):
                a = sA[k, ty + 16 * i]
                for j in range(4):
                    acc[i, j] += a * b[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            if top + ty + 16 * i < C.shape[0] and left + tx + 16 * j < C.shape[1]:
                C[top + ty + 16 * i, left + tx + 16 * j] = acc[i, j]
