import math

import numpy as np
from numba import cuda, float32

ALL = 0xFFFFFFFF
LOWEST = np.float32(-1e30)
SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    """Scores and weights never leave the registers: shuffles carry them from lane to lane."""
    sK = cuda.shared.array((32, 33), float32)
    sV = cuda.shared.array((32, 32), float32)
    lane, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row = cuda.blockIdx.x * 16 + ty
    query = Q[row, lane] if row < Q.shape[0] else float32(0)
    top, total, out = LOWEST, float32(0), float32(0)
    first = 0
    while first < K.shape[0]:
        y = ty
        while y < 32:
            if first + y < K.shape[0]:
                sK[y, lane] = K[first + y, lane]
                sV[y, lane] = V[first + y, lane]
            else:
                sK[y, lane] = 0
                sV[y, lane] = 0
            y += 16
        cuda.syncthreads()
        score = float32(0)
        if first + lane < K.shape[0]:  # <- barrier-divergence
            for k in range(32):
                score += cuda.shfl_sync(ALL, query, k) * sK[lane, k]  # <- barrier-divergence
        score = score * SCALE if first + lane < K.shape[0] else LOWEST
        best = score
        for distance in (16, 8, 4, 2, 1):
            best = max(best, cuda.shfl_xor_sync(ALL, best, distance))
        new_top = max(top, best)
        weight = math.exp(score - new_top) if first + lane < K.shape[0] else float32(0)
        factor = math.exp(top - new_top)
        added = weight
        for distance in (16, 8, 4, 2, 1):
            added += cuda.shfl_xor_sync(ALL, added, distance)
        total = total * factor + added
        out *= factor
        for j in range(32):
            out += cuda.shfl_sync(ALL, weight, j) * sV[j, lane]
        top = new_top
        cuda.syncthreads()
        first += 32
    if row < Q.shape[0]:
        O[row, lane] = out / total
