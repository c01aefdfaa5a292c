# exercise: histogram
# marked: wrong; cause: The early return before the final addition lets thread 15 go, so the last bin never reaches the output; code: wrong-bounds-check|incomplete-output|wrong-loop-bound|wrong-result; lines: [19]
import math
from numba import cuda, float32


@cuda.jit
def histogram(x, out):
    seen = cuda.shared.array(16, float32)
    t = cuda.threadIdx.x
    if t <= 15:
        seen[t] = float32(0)
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
        b = int(math.floor(x[i] * float32(8))) + 8
        b = 0 if b < 0 else b
        b = 15 if b > 15 else b
        cuda.atomic.add(seen, b, float32(1))
    cuda.syncthreads()
    # sixteen threads hand the counts on
    if t >= 15:
        return
    cuda.atomic.add(out, t, seen[t])
