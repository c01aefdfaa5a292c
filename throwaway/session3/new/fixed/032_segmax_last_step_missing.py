# exercise: segmented_max
# marked: right
from numba import cuda, float32


@cuda.jit
def segmented_max(x, y):
    vals = cuda.shared.array(64, float32)
    tid = cuda.threadIdx.x
    gid = cuda.grid(1)
    n = x.shape[0]
    if gid < n:
        vals[tid] = x[gid]
    else:
        vals[tid] = float32(-1e30)
    cuda.syncthreads()

    # distances 1, 2, 4, ...
    for level in range(6):
        dist = 2**level
        left = vals[tid]
        if tid - dist >= 0:
            left = vals[tid - dist]
        cuda.syncthreads()
        if left > vals[tid]:
            vals[tid] = left
        cuda.syncthreads()

    if gid < n:
        y[gid] = vals[tid]
