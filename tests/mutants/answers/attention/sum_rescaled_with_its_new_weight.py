import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    kv = cuda.shared.array((2, TILE, 33), float32)
    mine = cuda.local.array(32, float32)
    sc = cuda.shared.array((16, TILE), float32)
    col, r = cuda.threadIdx.x, cuda.threadIdx.y
    i = cuda.blockIdx.x * cuda.blockDim.y + r
    sc[r, col] = Q[i, col] * SCALE if i < Q.shape[0] else float32(0)
    cuda.syncthreads()
    for d in range(32):
        mine[d] = sc[r, d]
    cuda.syncthreads()
    m = float32(-math.inf)
    l = float32(0)
    o = float32(0)
    for lo in range(0, K.shape[0], TILE):
        count = min(TILE, K.shape[0] - lo)
        for j in range(r, count, 16):
            kv[0, j, col] = K[lo + j, col]
            kv[1, j, col] = V[lo + j, col]
        cuda.syncthreads()
        if col < count:
            s = float32(0)
            for d in range(32):
                s += mine[d] * kv[0, col, d]
            sc[r, col] = s
        cuda.syncthreads()
        for j in range(count):
            s = sc[r, j]
            new = max(m, s)
            f = math.exp(m - new)
            w = math.exp(s - new)
            l = (l + w) * f  # <- wrong-formula, missing-rescale
            o = o * f + w * kv[1, j, col]
            m = new
        cuda.syncthreads()
    if i < Q.shape[0]:
        O[i, col] = o / l
