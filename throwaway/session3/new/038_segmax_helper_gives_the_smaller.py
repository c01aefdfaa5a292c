# exercise: segmented_max
# marked: wrong; cause: The helper returns the smaller one of two numbers because its comparison is the wrong way round; code: wrong-formula|wrong-result; lines: [7, 8]
import math
from numba import cuda, float32


@cuda.jit(device=True)
def larger(a, b):
    if a > b:
        return b
    return a


@cuda.jit
def segmented_max(x, y):
    sh = cuda.shared.array(64, float32)
    k = cuda.threadIdx.x
    g = cuda.blockIdx.x * 64 + k
    mine = x[g] if g < x.shape[0] else float32(-math.inf)
    sh[k] = mine
    cuda.syncthreads()
    hop = 1
    while hop < 64:
        if k >= hop:
            mine = larger(mine, sh[k - hop])
        cuda.syncthreads()
        sh[k] = mine
        cuda.syncthreads()
        hop *= 2
    if g < y.shape[0]:
        y[g] = mine
