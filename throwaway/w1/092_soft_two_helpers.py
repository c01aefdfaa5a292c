# exercise: attention
# marked: right
import math

import numpy as np
from numba import cuda, float32

TILE = 16
SCALE = np.float32(1 / math.sqrt(32))
LOW = np.float32(-1e30)


@cuda.jit(device=True)
def score_of(sQ, ty, sK, key):
    total = float32(0)
    for k in range(32):
        total += sQ[ty, k] * sK[key, k]
    return total * SCALE


@cuda.jit
def attention(Q, K, V, O):
    sQ = cuda.shared.array((16, 33), float32)
    sK = cuda.shared.array((TILE, 33), float32)
    sV = cuda.shared.array((TILE, 33), float32)
    grades = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    query = cuda.blockIdx.x * 16 + ty
    if query < Q.shape[0]:
        sQ[ty, tx] = Q[query, tx]
    else:
        sQ[ty, tx] = float32(0)
    peak, below, above = LOW, float32(0), float32(0)
    for t in range((K.shape[0] + TILE - 1) // TILE):
        key = t * TILE + ty
        alive = key < K.shape[0]
        sK[ty, tx] = K[key, tx] if alive else float32(0)
        sV[ty, tx] = V[key, tx] if alive else float32(0)
        cuda.syncthreads()
        # only half of the lanes have a key
        if tx < TILE:
            grades[ty, tx] = score_of(sQ, ty, sK, tx) if t * TILE + tx < K.shape[0] else LOW
        cuda.syncthreads()
        before = peak
        for j in range(TILE):
            peak = max(peak, grades[ty, j])
        factor = math.exp(before - peak)
        below *= factor
        above *= factor
        for j in range(TILE):
            w = math.exp(grades[ty, j] - peak)
            below += w
            above += w * sV[j, tx]
        cuda.syncthreads()
    if query < O.shape[0]:
        O[query, tx] = above / below
