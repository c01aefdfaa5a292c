# EXERCISE attention
import math

import numpy as np
from numba import cuda, float32

SCALE = np.float32(0.17677669)
LOWEST = np.float32(-3.0e38)


@cuda.jit
def attention(Q, K, V, O):
    qs = cuda.shared.array((16, 33), float32)
    ks = cuda.shared.array((32, 33), float32)
    vs = cuda.shared.array((32, 32), float32)
    sc = cuda.shared.array((32, 17), float32)
    top = cuda.shared.array(16, float32)
    fac = cuda.shared.array(16, float32)
    den = cuda.shared.array(16, float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    lin = ty * 32 + tx
    sq = lin % 16
    sk = lin // 16
    row = cuda.blockIdx.x * 16 + ty
    m = O.shape[0]
    n = V.shape[0]
    qs[ty, tx] = Q[row, tx] if row < m else float32(0)
    if lin < 16:
        top[lin] = LOWEST
        den[lin] = float32(0)
    out = float32(0)
    tiles = (n + 31) // 32
    for t in range(tiles):
        k0 = t * 32
        for r in range(ty, 32, 16):
            ks[r, tx] = K[k0 + r, tx] if k0 + r < n else float32(0)
            vs[r, tx] = V[k0 + r, tx] if k0 + r < n else float32(0)
        cuda.syncthreads()
        dot = float32(0)
        for d in range(32):
            dot += qs[sq, d] * ks[sk, d]
        if k0 + sk < n:
            sc[sq, sk] = dot * SCALE  # <- wrong-index, out-of-bounds-write
        else:
            sc[sk, sq] = float32(-math.inf)
        cuda.syncthreads()
        if lin < 16:
            new = top[lin]
            for j in range(32):
                new = max(new, sc[j, lin])
            fac[lin] = math.exp(top[lin] - new)
            total = den[lin] * fac[lin]
            for j in range(32):
                e = math.exp(sc[j, lin] - new)
                sc[j, lin] = e
                total += e
            den[lin] = total
            top[lin] = new
        cuda.syncthreads()
        out *= fac[ty]
        for j in range(32):
            out += sc[j, ty] * vs[j, tx]
        cuda.syncthreads()
    if row < m:
        O[row, tx] = out / den[ty]
