import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((TILE, 33), float32)
    sV = cuda.shared.array((TILE, 32), float32)
    weights = cuda.shared.array((16, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + ty

    sQ[ty, tx] = Q[row, tx] if row < Q.shape[0] else float32(0)
    top = float32(-math.inf)
    total = float32(0)
    out = float32(0)
    score = float32(0)
    for first in range(0, K.shape[0], TILE):
        for y in range(ty, TILE, 16):
            inside = first + y < K.shape[0]
            sK[y, tx] = K[first + y, tx] if inside else float32(0)
            sV[y, tx] = V[first + y, tx] if inside else float32(0)
        cuda.syncthreads()

        for k in range(32):
            score += sQ[ty, k] * sK[tx, k]  # <- accumulator-error
        score *= SCALE
        if first + tx >= K.shape[0]:
            score = float32(-math.inf)
        weights[ty, tx] = score
        cuda.syncthreads()

        new_top = top
        for j in range(TILE):
            new_top = max(new_top, weights[ty, j])
        cuda.syncthreads()
        weights[ty, tx] = math.exp(score - new_top)
        cuda.syncthreads()

        factor = math.exp(top - new_top)
        total *= factor
        out *= factor
        for j in range(TILE):
            total += weights[ty, j]
            out += weights[ty, j] * sV[j, tx]
        top = new_top
        cuda.syncthreads()

    if row < Q.shape[0]:
        O[row, tx] = out / total
