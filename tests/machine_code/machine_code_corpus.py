"""Kernels whose machine code is known: FACTS §4.4–4.6 and the ladder's tables counted them.

Sizes are multiples of the tile here, as in those tables: no bounds checks in the loops.
"""

import numpy as np
from numba import cuda, float32

TILE = 32
PADDED = TILE + 1
BM, BN, BK, TM, TN = 64, 64, 8, 8, 8
WIDE = 128


@cuda.jit
def naive(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


@cuda.jit
def naive_while(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        k = 0
        while k < A.shape[1]:
            acc += A[row, k] * B[k, col]
            k += 1
        C[row, col] = acc


@cuda.jit
def naive_float64(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        acc = 0.0
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


@cuda.jit
def tiled(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.y * TILE + ty
    col = cuda.blockIdx.x * TILE + tx
    acc = float32(0)
    for t in range(0, A.shape[1], TILE):
        sA[ty, tx] = A[row, t + tx]
        sB[ty, tx] = B[t + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
    C[row, col] = acc


@cuda.jit
def tiled_uint32(A, B, C):
    sA = cuda.shared.array((TILE, TILE), float32)
    sB = cuda.shared.array((TILE, TILE), float32)
    tx, ty = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    row = np.uint32(cuda.blockIdx.y) * TILE + ty
    col = np.uint32(cuda.blockIdx.x) * TILE + tx
    acc = float32(0)
    t = 0
    while t < A.shape[1]:
        sA[ty, tx] = A[row, t + tx]
        sB[ty, tx] = B[t + ty, col]
        cuda.syncthreads()
        for k in range(TILE):
            acc += sA[ty, k] * sB[k, tx]
        cuda.syncthreads()
        t += TILE
    C[row, col] = acc


@cuda.jit
def tiled_padded_uint32(A, B, C):
    sA = cuda.shared.array((TILE, PADDED), float32)
    sB = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = np.uint32(cuda.threadIdx.x), np.uint32(cuda.threadIdx.y)
    row = np.uint32(cuda.blockIdx.y) * TILE + ty
    col = np.uint32(cuda.blockIdx.x) * TILE + tx
    acc = float32(0)
    t = 0
    while t < A.shape[1]:
        sA[ty, tx] = A[row, t + tx]
        sB[ty, tx] = B[t + ty, col]
        cuda.syncthreads()
        k = 0
        while k < TILE:
            acc += sA[ty, k] * sB[k, tx]
            k += 1
        cuda.syncthreads()
        t += TILE
    C[row, col] = acc


@cuda.jit
def outputs_1d(A, B, C):
    sA = cuda.shared.array((BM, BK), float32)
    sB = cuda.shared.array((BK, BN), float32)
    tid = cuda.threadIdx.x
    tx, ty = tid % BN, tid // BN
    row, col = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    acc = cuda.local.array(TM, float32)
    for i in range(TM):
        acc[i] = float32(0)
    for t in range(0, A.shape[1], BK):
        sA[tid // BK, tid % BK] = A[row + tid // BK, t + tid % BK]
        sB[tid // BN, tid % BN] = B[t + tid // BN, col + tid % BN]
        cuda.syncthreads()
        for k in range(BK):
            b = sB[k, tx]
            for i in range(TM):
                acc[i] += sA[ty * TM + i, k] * b
        cuda.syncthreads()
    for i in range(TM):
        C[row + ty * TM + i, col + tx] = acc[i]


@cuda.jit
def outputs_2d(A, B, C):
    sA = cuda.shared.array((WIDE, BK), float32)
    sB = cuda.shared.array((BK, WIDE), float32)
    tid = cuda.threadIdx.x
    tx, ty = tid % 16, tid // 16
    row, col = cuda.blockIdx.y * WIDE, cuda.blockIdx.x * WIDE
    acc = cuda.local.array((TM, TN), float32)
    a = cuda.local.array(TM, float32)
    b = cuda.local.array(TN, float32)
    for i in range(TM):
        for j in range(TN):
            acc[i, j] = float32(0)
    for t in range(0, A.shape[1], BK):
        for step in range(4):
            sA[step * 32 + tid // BK, tid % BK] = A[row + step * 32 + tid // BK, t + tid % BK]
            sB[step * 2 + tid // WIDE, tid % WIDE] = B[t + step * 2 + tid // WIDE, col + tid % WIDE]
        cuda.syncthreads()
        for k in range(BK):
            for i in range(TM):
                a[i] = sA[ty * TM + i, k]
            for j in range(TN):
                b[j] = sB[k, tx * TN + j]
            for i in range(TM):
                for j in range(TN):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(TM):
        for j in range(TN):
            C[row + ty * TM + i, col + tx * TN + j] = acc[i, j]


@cuda.jit(device=True)
def product(a, b):
    return a * b


@cuda.jit
def naive_with_helper(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        k = 0
        while k < A.shape[1]:
            acc += product(A[row, k], B[k, col])
            k += 1
        C[row, col] = acc


@cuda.jit
def add(A, B, C):
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = A[row, col] + B[row, col]
