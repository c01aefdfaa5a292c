import math

import numpy as np
from numba import cuda, float32

BLOCK = (32, 8)
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    """Two queries for each thread, whose running numbers are in registers."""
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((32, 33), float32)
    sV = cuda.shared.array((32, 32), float32)
    sP = cuda.shared.array((16, 32), float32)
    top = cuda.local.array(2, float32)
    total = cuda.local.array(2, float32)
    out = cuda.local.array(2, float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    base = cuda.blockIdx.x * 16
    for half in range(2):
        top[half], total[half], out[half] = -1e30, 0, 0
        at = y + 8 * half
        if base + at < Q.shape[0]:
            sQ[at, x] = Q[base + at, x] * SCALE
        else:
            sQ[at, x] = 0
    for first in range(0, K.shape[0], 32):
        for at in range(y, 32, 8):
            if first + at < K.shape[0]:
                sK[at, x] = K[first + at, x]
                sV[at, x] = V[first + at, x]
        cuda.syncthreads()
        for half in range(2):
            score = float32(0)
            if first + x < K.shape[0]:
                for k in range(32):
                    score += sQ[y + 8 * half, k] * sK[x, k]
            sP[y + 8 * half, x] = score
        cuda.syncthreads()
        here = min(32, K.shape[0] - first)  # keys past the end are not visited
        for half in range(2):
            new = top[half]
            for j in range(here):
                new = max(new, sP[y + 8 * half, j])
            factor = math.exp(top[half] - new)
            total[half] *= factor
            out[half] *= factor
            for j in range(here):
                weight = math.exp(sP[y + 8 * half, j] - new)
                total[half] += weight
                out[half] += weight * sV[j, x]
            top[half] = new
        cuda.syncthreads()
    for half in range(2):
        row = base + y + 8 * half
        if row < Q.shape[0]:
            O[row, x] = out[half] / total[half]
