import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))
ROWS = 16
MINUS_INF = np.float32(-math.inf)


@cuda.jit(device=True)
def stage(dst, src, first, x, y):
    r = y
    while r < TILE:
        if first + r < src.shape[0]:
            dst[r, x] = src[first + r, x]
        else:
            dst[r, x] = float32(0)
        r += ROWS


@cuda.jit(device=True)
def row_max(scores, y, start):
    best = start
    for j in range(TILE):
        if scores[y, j] > best:
            best = scores[y, j]
    return best


@cuda.jit
def attention(Q, K, V, O):
    queries = cuda.shared.array((ROWS, 32), float32)
    keys = cuda.shared.array((TILE, 33), float32)
    values = cuda.shared.array((TILE, 32), float32)
    scores = cuda.shared.array((ROWS, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    q = cuda.blockIdx.x * ROWS + y
    if q < Q.shape[0]:
        queries[y, x] = Q[q, x]
    else:
        queries[y, x] = float32(0)
    highest = MINUS_INF
    denominator = float32(0)
    numerator = float32(0)
    first = 0
    while first < K.shape[0]:
        stage(keys, K, first, x, y)
        stage(values, V, first, x, y)
        cuda.syncthreads()
        s = MINUS_INF
        if first + x < K.shape[0]:
            s = float32(0)
            for d in range(32):
                s += queries[y, d] * keys[x, d]
            s *= SCALE
        scores[y, x] = s
        cuda.syncthreads()
        higher = max(highest, row_max(scores, y, float32(-10)))  # <- numerical-overflow, wrong-formula
        fade = math.exp(highest - higher)
        denominator *= fade
        numerator *= fade
        for j in range(TILE):
            w = math.exp(scores[y, j] - higher)
            denominator += w
            numerator += w * values[j, x]
        highest = higher
        cuda.syncthreads()
        first += TILE
    if q < O.shape[0]:
        O[q, x] = numerator / denominator
