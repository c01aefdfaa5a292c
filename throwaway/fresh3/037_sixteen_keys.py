# exercise: attention
# marked: right; style: tiles of 16 keys, half of each warp finds scores, the exponentials are worked out once and handed round
import math

import numpy as np
from numba import cuda, float32

TILE = 16
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    qs = cuda.shared.array((16, 32), float32)
    ks = cuda.shared.array((TILE, 33), float32)
    vs = cuda.shared.array((TILE, 32), float32)
    hand = cuda.shared.array((16, TILE), float32)
    c, r = cuda.threadIdx.x, cuda.threadIdx.y
    mine = cuda.blockIdx.x * 16 + r
    n = K.shape[0]
    qs[r, c] = Q[mine, c] if mine < Q.shape[0] else float32(0)
    high = float32(-math.inf)
    mass = float32(0)
    out = float32(0)
    done = 0
    while done < n:
        here = done + r < n
        ks[r, c] = K[done + r, c] if here else float32(0)
        vs[r, c] = V[done + r, c] if here else float32(0)
        cuda.syncthreads()
        if c < TILE:
            s = float32(0)
            for d in range(32):
                s += qs[r, d] * ks[c, d]
            hand[r, c] = s * SCALE if done + c < n else float32(-math.inf)
        cuda.syncthreads()
        new = high
        for j in range(TILE):
            new = max(new, hand[r, j])
        cuda.syncthreads()
        if c < TILE:
            hand[r, c] = math.exp(hand[r, c] - new)
        cuda.syncthreads()
        f = math.exp(high - new)
        mass, out, high = mass * f, out * f, new
        for j in range(TILE):
            e = hand[r, j]
            mass += e
            out += e * vs[j, c]
        cuda.syncthreads()
        done += TILE
    if mine < O.shape[0]:
        O[mine, c] = out / mass
