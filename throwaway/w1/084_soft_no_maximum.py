# exercise: attention
# marked: wrong; cause: The weights are the exponentials of the scores themselves, with no maximum subtracted; code: numerical-overflow; lines: [33]
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
    weight = cuda.shared.array((16, TILE), float32)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    i = cuda.blockIdx.x * 16 + y
    sQ[y, x] = Q[i, x] if i < Q.shape[0] else float32(0)
    above = float32(0)
    below = float32(0)
    for first in range(0, K.shape[0], TILE):
        for half in range(2):
            r = y + 16 * half
            real = first + r < K.shape[0]
            sK[r, x] = K[first + r, x] if real else float32(0)
            sV[r, x] = V[first + r, x] if real else float32(0)
        cuda.syncthreads()
        s = float32(0)
        for k in range(32):
            s += sQ[y, k] * sK[x, k]
        if first + x < K.shape[0]:
            weight[y, x] = math.exp(s * SCALE)
        else:
            weight[y, x] = float32(0)
        cuda.syncthreads()
        for j in range(TILE):
            below += weight[y, j]
            above += weight[y, j] * sV[j, x]
        cuda.syncthreads()
    if i < O.shape[0]:
        O[i, x] = above / below
