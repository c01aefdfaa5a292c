# exercise: histogram
# marked: wrong; cause: The loop starts at the number within the block, so every block counts the same numbers and others are left out; code: wrong-index|wrong-loop-bound|wrong-result|wrong-formula; lines: [12]
import math
from numba import cuda, float32


@cuda.jit
def histogram(x, out):
    counts = cuda.shared.array(16, float32)
    t = cuda.threadIdx.x
    if t < 16:
        counts[t] = float32(0)
    cuda.syncthreads()
    for i in range(t, x.shape[0], cuda.gridsize(1)):
        b = int(math.floor(x[i] * float32(8))) + 8
        b = min(max(b, 0), 15)
        cuda.atomic.add(counts, b, float32(1))
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, counts[t])
