# exercise: segmented_max
# marked: right
from numba import cuda, float32


@cuda.jit
def segmented_max(x, y):
    work = cuda.shared.array(shape=64, dtype=float32)
    tid = cuda.threadIdx.x
    idx = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if idx < x.size:
        work[tid] = x[idx]
    cuda.syncthreads()

    result = work[tid] if idx < x.size else float32(0)
    offset = 1
    while offset < 64:
        if tid >= offset and idx < x.size:
            result = max(result, work[tid - offset])
        cuda.syncthreads()
        if idx < x.size:
            work[tid] = result
        cuda.syncthreads()
        offset <<= 1

    if idx < x.size:
        y[idx] = result
