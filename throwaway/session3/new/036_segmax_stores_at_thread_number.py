# exercise: segmented_max
# marked: wrong; cause: The result is stored at the index within the block, so all blocks write to the first segment of the output; code: wrong-index|incomplete-output|race-write-after-write; lines: [25]
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
        y[tid] = result
