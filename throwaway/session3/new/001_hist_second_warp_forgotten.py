# exercise: histogram
# marked: wrong; cause: Each of the two warps has its own row of counts, but only the row of the first one is added to the output; code: wrong-result|wrong-index|wrong-formula|wrong-loop-bound; lines: [27]
import math
from numba import cuda, float32


@cuda.jit
def histogram(x, out):
    tid = cuda.threadIdx.x
    warp = tid // 32
    # one row of counters for each warp
    sub = cuda.shared.array((2, 16), float32)
    if tid < 32:
        sub[tid // 16, tid % 16] = float32(0)
    cuda.syncthreads()

    pos = cuda.grid(1)
    while pos < x.shape[0]:
        k = int(math.floor(x[pos] * float32(8))) + 8
        if k < 0:
            k = 0
        if k > 15:
            k = 15
        cuda.atomic.add(sub, (warp, k), float32(1))
        pos += cuda.gridsize(1)
    cuda.syncthreads()

    if tid < 16:
        cuda.atomic.add(out, tid, sub[0, tid])
