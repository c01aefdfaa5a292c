# exercise: attention
# marked: wrong; cause: keys past the end have the score 0 instead of minus infinity, and so they get a weight; code: missing-mask; lines: [34]
import math

import numpy as np
from numba import cuda, float32

TILE = 16
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit(device=True)
def row_or_zero(M, r, c):
    return M[r, c] if r < M.shape[0] else float32(0)


@cuda.jit
def attention(Q, K, V, O):
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((TILE, 33), float32)
    sV = cuda.shared.array((TILE, 32), float32)
    sP = cuda.shared.array((16, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = 16 * cuda.blockIdx.x + ty
    sQ[ty, tx] = row_or_zero(Q, row, tx)
    best, weight_sum, mixed = float32(-math.inf), float32(0), float32(0)
    first = 0
    while first < K.shape[0]:
        sK[ty, tx] = row_or_zero(K, first + ty, tx)
        sV[ty, tx] = row_or_zero(V, first + ty, tx)
        cuda.syncthreads()
        if tx < TILE:
            score = float32(0)
            for d in range(32):
                score += sQ[ty, d] * sK[tx, d]
            sP[ty, tx] = score * SCALE
        cuda.syncthreads()
        new = best
        for j in range(TILE):
            new = max(new, sP[ty, j])
        shrink = math.exp(best - new)
        weight_sum *= shrink
        mixed *= shrink
        for j in range(TILE):
            e = math.exp(sP[ty, j] - new)
            weight_sum += e
            mixed += e * sV[j, tx]
        best = new
        first += TILE
        cuda.syncthreads()
    if row < Q.shape[0]:
        O[row, tx] = mixed / weight_sum
