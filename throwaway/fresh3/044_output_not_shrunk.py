# exercise: attention
# marked: wrong; cause: when the maximum rises, the sum of the weights is rescaled but the output so far is not; code: missing-rescale; lines: [44]
import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    q = cuda.shared.array((16, 32), float32)
    kk = cuda.shared.array((TILE, 33), float32)
    vv = cuda.shared.array((TILE, 32), float32)
    s = cuda.shared.array((16, TILE), float32)
    lane, w = cuda.threadIdx.x, cuda.threadIdx.y
    mine = 16 * cuda.blockIdx.x + w
    n = K.shape[0]
    q[w, lane] = Q[mine, lane] if mine < Q.shape[0] else float32(0)
    m = float32(-math.inf)
    l = float32(0)
    o = float32(0)
    for k0 in range(0, n, TILE):
        for r in range(w, TILE, 16):
            if k0 + r < n:
                kk[r, lane] = K[k0 + r, lane]
                vv[r, lane] = V[k0 + r, lane]
            else:
                kk[r, lane] = 0
                vv[r, lane] = 0
        cuda.syncthreads()
        dot = float32(0)
        for d in range(32):
            dot += q[w, d] * kk[lane, d]
        s[w, lane] = dot * SCALE if k0 + lane < n else float32(-math.inf)
        cuda.syncthreads()
        higher = m
        for j in range(TILE):
            higher = max(higher, s[w, j])
        l = l * math.exp(m - higher)
        for j in range(TILE):
            p = math.exp(s[w, j] - higher)
            l += p
            o += p * vv[j, lane]
        m = higher
        cuda.syncthreads()
    if mine < O.shape[0]:
        O[mine, lane] = o / l
