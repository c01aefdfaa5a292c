# exercise: attention
# marked: wrong; cause: The load of a key's row is guarded with the number of queries instead of the number of keys; code: wrong-bounds-check|out-of-bounds-read; lines: [25]
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
    sP = cuda.shared.array((16, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + ty
    nq, nk = Q.shape[0], K.shape[0]
    sQ[ty, tx] = Q[row, tx] if row < nq else float32(0)
    m = float32(-math.inf)
    l = float32(0)
    acc = float32(0)
    for base in range(0, nk, TILE):
        for j in range(ty, TILE, 16):
            sK[j, tx] = K[base + j, tx] if base + j < nq else float32(0)
            sV[j, tx] = V[base + j, tx] if base + j < nk else float32(0)
        cuda.syncthreads()
        s = float32(0)
        for d in range(32):
            s += sQ[ty, d] * sK[tx, d]
        s *= SCALE
        if base + tx >= nk:
            s = float32(-math.inf)
        sP[ty, tx] = s
        cuda.syncwarp()
        old = m
        for j in range(TILE):
            m = max(m, sP[ty, j])
        f = math.exp(old - m)
        l *= f
        acc *= f
        for j in range(TILE):
            p = math.exp(sP[ty, j] - m)
            l += p
            acc += p * sV[j, tx]
        cuda.syncthreads()
    if row < nq:
        O[row, tx] = acc / l
