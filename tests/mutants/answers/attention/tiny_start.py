# EXERCISE attention
import math

import numpy as np
from numba import cuda

SCALE = np.float32(1 / math.sqrt(32))
LANES = 0xFFFFFFFF
KEYS = 16


@cuda.jit
def attention(Q, K, V, O):
    kk = cuda.shared.array((KEYS, 32), np.float32)
    vv = cuda.shared.array((KEYS, 32), np.float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    me = cuda.blockIdx.x * cuda.blockDim.y + y
    n = K.shape[0]
    qd = np.float32(0)
    if me < Q.shape[0]:
        qd = Q[me, x] * SCALE
    top = np.float32(-1e-30)  # <- numerical-overflow, accumulator-error, wrong-formula
    total = np.float32(0)
    out = np.float32(0)
    first = 0
    while first < n:
        if first + y < n:
            kk[y, x] = K[first + y, x]
            vv[y, x] = V[first + y, x]
        cuda.syncthreads()
        for j in range(min(KEYS, n - first)):
            dot = qd * kk[j, x]
            off = 16
            while off >= 1:
                dot += cuda.shfl_xor_sync(LANES, dot, off)
                off >>= 1
            if dot > top:
                shrink = math.exp(top - dot)
                total *= shrink
                out *= shrink
                top = dot
            weight = math.exp(dot - top)
            total += weight
            out += weight * vv[j, x]
        cuda.syncthreads()
        first += KEYS
    if me < O.shape[0]:
        O[me, x] = out / total
