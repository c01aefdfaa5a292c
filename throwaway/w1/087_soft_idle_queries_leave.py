# exercise: attention
# marked: wrong; cause: Threads whose query does not exist return at the top and never reach the barriers; code: barrier-divergence; lines: [18, 19]
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
    P = cuda.shared.array((16, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i = 16 * cuda.blockIdx.x + ty
    if i >= Q.shape[0]:
        return
    sQ[ty, tx] = Q[i, tx]
    n = K.shape[0]
    m, z, o = float32(-math.inf), float32(0), float32(0)
    for t in range((n + TILE - 1) // TILE):
        for r in range(ty, TILE, 16):
            key = t * TILE + r
            sK[r, tx] = K[key, tx] if key < n else float32(0)
            sV[r, tx] = V[key, tx] if key < n else float32(0)
        cuda.syncthreads()
        s = float32(0)
        for k in range(32):
            s += sQ[ty, k] * sK[tx, k]
        P[ty, tx] = s * SCALE if t * TILE + tx < n else float32(-math.inf)
        cuda.syncthreads()
        was = m
        for j in range(TILE):
            m = max(m, P[ty, j])
        z *= math.exp(was - m)
        o *= math.exp(was - m)
        for j in range(TILE):
            w = math.exp(P[ty, j] - m)
            z += w
            o += w * sV[j, tx]
        cuda.syncthreads()
    O[i, tx] = o / z
