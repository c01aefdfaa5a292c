# exercise: segmented_max
# marked: wrong; cause: The load is not guarded, so the last block reads past the end of x when its segment is not full; code: out-of-bounds-read|wrong-bounds-check; lines: [9]
from numba import cuda, float32


@cuda.jit
def segmented_max(x, y):
    m = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    m[t] = x[i]
    cuda.syncthreads()
    for power in range(6):
        back = t - (1 << power)
        value = m[t]
        if back >= 0:
            value = max(value, m[back])
        cuda.syncthreads()
        m[t] = value
        cuda.syncthreads()
    if i >= y.shape[0]:
        return
    y[i] = m[t]
