import math

import numpy as np
from numba import cuda, float32

TILE = 32
SCALE = np.float32(1 / math.sqrt(32))
WARP = 0xFFFFFFFF


@cuda.jit
def attention(Q, K, V, O):
    kt = cuda.shared.array((TILE, 33), float32)
    vt = cuda.shared.array((TILE, 33), float32)
    qt = cuda.shared.array((16, 33), float32)
    pt = cuda.shared.array((16, 33), float32)
    lane = cuda.threadIdx.x
    wid = cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + wid
    n = K.shape[0]
    qt[wid, lane] = Q[row, lane] if row < Q.shape[0] else float32(0)
    m, z, acc = float32(-math.inf), float32(0), float32(0)
    for t in range((n + TILE - 1) // TILE):
        for h in range(2):
            r = wid + 16 * h
            g = t * TILE + r
            kt[r, lane] = K[g, lane] if g < n else float32(0)
            vt[r, lane] = V[g, lane] if g < n else float32(0)
        cuda.syncthreads()
        s = float32(0)
        for d in range(32):
            s += qt[wid, d] * kt[lane, d]
        s = s * SCALE if t * TILE + lane < n else float32(-math.inf)
        top = s
        for step in (16, 8, 4, 2, 1):
            top = max(top, cuda.shfl_xor_sync(WARP, top, step))
        top = max(top, m)
        p = math.exp(s - top)
        pt[wid, lane] = p
        row_sum = p
        for step in (8, 4, 2, 1):  # <- wrong-loop-bound, accumulator-error, wrong-formula
            row_sum += cuda.shfl_xor_sync(WARP, row_sum, step)
        f = math.exp(m - top)
        z = z * f + row_sum
        acc = acc * f
        cuda.syncwarp()
        for j in range(TILE):
            acc += pt[wid, j] * vt[j, lane]
        m = top
        cuda.syncthreads()
    if row < O.shape[0]:
        O[row, lane] = acc / z
