import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))
WARP = 0xFFFFFFFF


@cuda.jit
def attention(Q, K, V, O):
    keys = cuda.shared.array((TILE, 33), float32)
    values = cuda.shared.array((TILE, 33), float32)
    query = cuda.shared.array((16, 33), float32)
    weights = cuda.shared.array((16, 33), float32)
    x = cuda.threadIdx.x
    warp = cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + warp
    n = K.shape[0]
    query[warp, x] = Q[row, x] if row < Q.shape[0] else float32(0)
    m, z, acc = float32(-math.inf), float32(0), float32(0)
    for t in range((n + TILE - 1) // TILE):
        for h in range(2):
            r = warp + 16 * h
            g = t * TILE + r
            keys[r, x] = K[g, x] if g < n else float32(0)
            values[r, x] = V[g, x] if g < n else float32(0)
        cuda.syncthreads()
        s = float32(0)
        for d in range(32):
            s += query[warp, d] * keys[x, d]
        s = s * SCALE if t * TILE + x < n else float32(-math.inf)
        best = s
        for step in (16, 8, 4, 2, 1):
            best = max(best, cuda.shfl_xor_sync(WARP, best, step))
        best = max(best, m)
        p = math.exp(s - best)
        weights[warp, x] = p
        mass = p
        step = 1
        while step < 32:
            mass = mass + cuda.shfl_up_sync(WARP, mass, step)  # <- accumulator-error
            step *= 2
        f = math.exp(m - best)
        z = z * f + mass
        acc = acc * f
        cuda.syncwarp()
        for j in range(TILE):
            acc += weights[warp, j] * values[j, x]
        m = best
        cuda.syncthreads()
    if row < O.shape[0]:
        O[row, x] = acc / z
