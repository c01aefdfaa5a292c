# EXERCISE attention
import math

import numpy as np
from numba import cuda, float32

SCALE = np.float32(1 / math.sqrt(32))
MOST = 300  # <- out-of-bounds-write


@cuda.jit
def attention(Q, K, V, O):
    scores = cuda.shared.array((16, MOST), float32)  # <- out-of-bounds-write
    rows = cuda.shared.array((32, 33), float32)
    query = cuda.shared.array((16, 32), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    me = cuda.blockIdx.x * 16 + ty
    keys = K.shape[0]
    query[ty, tx] = Q[me, tx] if me < Q.shape[0] else float32(0)
    for base in range(0, keys, 32):
        for r in range(ty, 32, 16):
            if base + r < keys:
                rows[r, tx] = K[base + r, tx]
        cuda.syncthreads()
        if base + tx < keys:
            s = float32(0)
            for d in range(32):
                s += query[ty, d] * rows[tx, d]
            scores[ty, base + tx] = s * SCALE  # <- out-of-bounds-write
        cuda.syncthreads()
    top = scores[ty, 0]
    for j in range(keys):
        top = max(top, scores[ty, j])
    total = float32(0)
    out = float32(0)
    for base in range(0, keys, 32):
        for r in range(ty, 32, 16):
            if base + r < keys:
                rows[r, tx] = V[base + r, tx]
        cuda.syncthreads()
        for j in range(min(32, keys - base)):
            weight = math.exp(scores[ty, base + j] - top)
            total += weight
            out += weight * rows[j, tx]
        cuda.syncthreads()
    if me < Q.shape[0]:
        O[me, tx] = out / total
