# EXERCISE attention
import math

import numpy as np
from numba import cuda, float32

SCALE = np.float32(1 / math.sqrt(32))
FULL = 0xFFFFFFFF


@cuda.jit
def attention(Q, K, V, O):
    kt = cuda.shared.array((32, 33), float32)
    vt = cuda.shared.array((32, 32), float32)
    lane = cuda.threadIdx.x
    w = cuda.threadIdx.y
    q = cuda.blockIdx.x * 16 + w
    queries = Q.shape[0]
    keys = K.shape[0]
    mine = Q[q, lane] if q < queries else float32(0)
    peak = float32(-math.inf)
    mass = float32(0)
    out = float32(0)
    for base in range(0, keys, 32):
        for r in range(w, 32, 16):
            if base + r < keys:
                kt[r, lane] = K[base + r, lane]
                vt[r, lane] = V[base + r, lane]
            else:
                kt[r, lane] = float32(0)
                vt[r, lane] = float32(0)
        cuda.syncthreads()
        s = float32(0)
        for d in range(32):
            s += mine * kt[lane, d]  # <- wrong-index, wrong-formula
        s *= SCALE
        if base + lane >= keys:
            s = float32(-math.inf)
        best = s
        step = 16
        while step > 0:
            best = max(best, cuda.shfl_xor_sync(FULL, best, step))
            step //= 2
        best = max(best, peak)
        p = math.exp(s - best)
        shrink = math.exp(peak - best)
        mass = mass * shrink + p
        out *= shrink
        for j in range(32):
            out += cuda.shfl_sync(FULL, p, j) * vt[j, lane]
        peak = best
        cuda.syncthreads()
    step = 16
    while step > 0:
        mass += cuda.shfl_xor_sync(FULL, mass, step)
        step //= 2
    if q < queries:
        O[q, lane] = out / mass
