import math

import numpy as np
from numba import cuda, float32

SCALE = np.float32(1 / math.sqrt(32))


@cuda.jit
def attention(Q, K, V, O):
    s = cuda.shared.array(1, float32)  # <- not-used
    if cuda.threadIdx.x == 0 and cuda.threadIdx.y == 0:
        s[0] = float32(0)
    cuda.syncthreads()
    row = cuda.blockIdx.x * 16 + cuda.threadIdx.y
    tx = cuda.threadIdx.x
    if row >= Q.shape[0]:
        return
    top = float32(-math.inf)
    total = s[0]
    out = float32(0)
    for j in range(K.shape[0]):
        score = float32(0)
        for k in range(32):
            score += Q[row, k] * K[j, k]
        score *= SCALE
        new_top = max(top, score)
        factor = math.exp(top - new_top)
        weight = math.exp(score - new_top)
        total = total * factor + weight
        out = out * factor + weight * V[j, tx]
        top = new_top
    O[row, tx] = out / total
