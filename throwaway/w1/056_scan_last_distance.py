# exercise: block_scan
# marked: wrong; cause: The loop over the distances stops before 32, so the second half never gets the sum of the first; code: wrong-loop-bound; lines: [13]
from numba import cuda, float32

RUN = 64


@cuda.jit
def block_scan(x, y):
    a = cuda.shared.array(RUN, float32)
    me = cuda.threadIdx.x
    here = cuda.blockIdx.x * cuda.blockDim.x + me
    a[me] = x[here] if here < len(x) else float32(0)
    cuda.syncthreads()
    for dist in (1, 2, 4, 8, 16):
        got = float32(0)
        if me - dist >= 0:
            got = a[me - dist]
        cuda.syncthreads()
        a[me] = a[me] + got
        cuda.syncthreads()
    if here < len(y):
        y[here] = a[me]
