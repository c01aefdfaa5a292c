# exercise: attention
# marked: wrong; cause: When the maximum grows, the sum of the weights is shrunk, but not the output that was added up so far; code: missing-rescale; lines: [37, 41]
import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    q = cuda.shared.array((16, 32), float32)
    ks = cuda.shared.array((TILE, 33), float32)
    vs = cuda.shared.array((TILE, 33), float32)
    p = cuda.shared.array((16, TILE), float32)
    lane, line = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + line
    n_keys = K.shape[0]
    q[line, lane] = Q[row, lane] if row < Q.shape[0] else float32(0)
    m = float32(-math.inf)
    l = float32(0)
    o = float32(0)
    for start in range(0, n_keys, TILE):
        for r in range(line, TILE, 16):
            ks[r, lane] = K[start + r, lane] if start + r < n_keys else float32(0)
            vs[r, lane] = V[start + r, lane] if start + r < n_keys else float32(0)
        cuda.syncthreads()
        dot = float32(0)
        for d in range(32):
            dot += q[line, d] * ks[lane, d]
        p[line, lane] = dot * SCALE if start + lane < n_keys else float32(-math.inf)
        cuda.syncthreads()
        old = m
        for j in range(TILE):
            m = max(m, p[line, j])
        shrink = math.exp(old - m)
        l = l * shrink
        for j in range(TILE):
            w = math.exp(p[line, j] - m)
            l += w
            o += w * vs[j, lane]
        cuda.syncthreads()
    if row < O.shape[0]:
        O[row, lane] = o / l
