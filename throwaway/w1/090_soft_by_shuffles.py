# exercise: attention
# marked: right
import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    # a query never needs shared memory: its 32 numbers live in the 32 lanes
    sK = cuda.shared.array((TILE, 33), float32)
    sV = cuda.shared.array((TILE, 33), float32)
    lane = cuda.threadIdx.x
    warp = cuda.threadIdx.y
    me = cuda.blockIdx.x * 16 + warp
    q = Q[me, lane] * SCALE if me < Q.shape[0] else float32(0)
    m = float32(-math.inf)
    den = float32(0)
    num = float32(0)
    for start in range(0, K.shape[0], TILE):
        for r in range(warp, TILE, 16):
            if start + r < K.shape[0]:
                sK[r, lane] = K[start + r, lane]
                sV[r, lane] = V[start + r, lane]
            else:
                sK[r, lane] = float32(0)
                sV[r, lane] = float32(0)
        cuda.syncthreads()
        s = float32(0)
        for d in range(32):
            s += cuda.shfl_sync(0xFFFFFFFF, q, d) * sK[lane, d]
        if start + lane >= K.shape[0]:
            s = float32(-math.inf)
        hi = max(s, m)
        for e in range(5):
            hi = max(hi, cuda.shfl_xor_sync(0xFFFFFFFF, hi, 1 << e))
        p = math.exp(s - hi)
        c = math.exp(m - hi)
        m = hi
        den = den * c + p
        num *= c
        for j in range(TILE):
            num += cuda.shfl_sync(0xFFFFFFFF, p, j) * sV[j, lane]
        cuda.syncthreads()
    # every lane has summed the weights of its own keys only
    for e in range(5):
        den += cuda.shfl_xor_sync(0xFFFFFFFF, den, 1 << e)
    if me < O.shape[0]:
        O[me, lane] = num / den
