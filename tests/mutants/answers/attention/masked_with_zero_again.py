# EXERCISE attention
import math

import numpy as np
from numba import cuda, float32

FULL = 0xFFFFFFFF
NEG = np.float32(-np.inf)
SCALE = np.float32(0.17677669)


@cuda.jit
def attention(Q, K, V, O):
    sQ = cuda.shared.array((16, 32), float32)
    sK = cuda.shared.array((32, 33), float32)
    sV = cuda.shared.array((32, 32), float32)
    lane = cuda.threadIdx.x
    warp = cuda.threadIdx.y
    query = 16 * cuda.blockIdx.x + warp
    keys = K.shape[0]
    if query < Q.shape[0]:
        sQ[warp, lane] = Q[query, lane]
    else:
        sQ[warp, lane] = float32(0)
    best = NEG
    total = float32(0)
    out = float32(0)
    first = 0
    while first < keys:
        for y in range(warp, 32, 16):
            sK[y, lane] = float32(0)
            sV[y, lane] = float32(0)
            if first + y < keys:
                sK[y, lane] = K[first + y, lane]
                sV[y, lane] = V[first + y, lane]
        cuda.syncthreads()
        score = float32(0)
        for d in range(32):
            score += sQ[warp, d] * sK[lane, d]
        score = score * SCALE
        if first + lane >= keys:
            score = float32(0)  # <- missing-mask
        top = score
        step = 16
        while step > 0:
            top = max(top, cuda.shfl_xor_sync(FULL, top, step))
            step //= 2
        new = max(best, top)
        shrink = math.exp(best - new)
        weight = math.exp(score - new)
        total *= shrink
        out *= shrink
        for j in range(32):
            p = cuda.shfl_sync(FULL, weight, j)
            total += p
            out += p * sV[j, lane]
        best = new
        cuda.syncthreads()
        first += 32
    if query < Q.shape[0]:
        O[query, lane] = out / total
