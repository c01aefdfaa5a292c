# exercise: segmented_max
# marked: wrong; cause: The thread whose partner is the first number of the segment is kept from looking at it by > instead of >=; code: wrong-bounds-check|wrong-index|wrong-result|wrong-formula|wrong-loop-bound; lines: [19]
import math
from numba import cuda, float32

SEGMENT = 64


@cuda.jit
def segmented_max(x, y):
    a = cuda.shared.array(SEGMENT, float32)
    j = cuda.threadIdx.x
    where = cuda.blockIdx.x * SEGMENT + j
    own = float32(-math.inf)
    if where < len(x):
        own = x[where]
    a[j] = own
    gap = 1
    while gap <= SEGMENT // 2:
        cuda.syncthreads()
        if j > gap:
            own = max(own, a[j - gap])
        cuda.syncthreads()
        a[j] = own
        gap = gap + gap
    if where < len(y):
        y[where] = own
