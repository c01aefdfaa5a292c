# exercise: segmented_max
# marked: wrong; cause: The shared array holds int32, so that the fractions of all numbers are cut off; code: integer-arithmetic|wrong-result; lines: [6, 10]
from numba import cuda, float32, int32


@cuda.jit
def segmented_max(x, y):
    s = cuda.shared.array(64, int32)
    lane = cuda.threadIdx.x
    pos = cuda.blockDim.x * cuda.blockIdx.x + lane
    inside = pos < x.shape[0]
    s[lane] = x[pos] if inside else float32(-1000)
    cuda.syncthreads()
    for k in range(6):
        d = 1 << k
        v = s[lane]
        if lane >= d:
            v = max(v, s[lane - d])
        cuda.syncthreads()
        s[lane] = v
        cuda.syncthreads()
    if inside:
        y[pos] = s[lane]
